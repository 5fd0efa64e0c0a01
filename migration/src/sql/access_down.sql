-- What access_up.sql made.
drop index htm.nodes_language_idx;
drop table htm.node_accesses, htm.merged_robots;
drop index htm.nodes_metadata_idx, htm.nodes_robot_idx;

drop index htm.node_tags_tag_idx;
create index node_tags_tag_idx on htm.node_tags (tag_id, node_id);

-- The names of tags as ontology_up.sql had them.
create or replace function htm.canonical_tag(in_namespace text, in_path text) returns text
    language plpgsql stable strict parallel safe as $$
declare
    name   text := in_path;
    called text;
begin
    for step in 1..16 loop
        select t.path || substr(name, length(s.path) + 1) into called
          from htm.tag_synonyms s
          join htm.tags t on t.id = s.tag_id
         where s.namespace = in_namespace and s.path in (select htm.tag_lineage(name))
         order by length(s.path) desc limit 1;
        exit when called is null or called = name;
        name := called;
    end loop;
    name := array_to_string((string_to_array(name, ':'))[1:5], ':');
    while octet_length(name) > 255 and name like '%:%' loop
        name := regexp_replace(name, ':[^:]*$', '');
    end loop;
    return name;
end $$;
create or replace function htm.register_tags(in_namespaces text[], in_paths text[])
    returns table (namespace text, path text, tag text) language plpgsql volatile as $$
#variable_conflict use_column
begin
    perform pg_advisory_xact_lock_shared(htm.tag_names_lock(n.name))
       from (select distinct u.name from unnest(in_namespaces) u(name) order by 1) n;
    return query
    with named as materialized (
        select u.namespace, u.path, htm.canonical_tag(u.namespace, u.path) as tag
          from (select distinct g.namespace, g.path from unnest(in_namespaces, in_paths) g(namespace, path)) u
         where u.path is not null
    ), made as (
        insert into htm.tags as t (namespace, path)
        select distinct n.namespace, l.path
          from named n
         cross join lateral htm.tag_lineage(n.tag) l(path)
         where not exists (select from htm.tags k where k.namespace = n.namespace and k.path = l.path)
         order by 1, 2
        on conflict on constraint tags_namespace_path_key do nothing
    )
    select n.namespace, n.path, n.tag from named n;
end $$;
drop function htm.register_tags(text[], text[], int, bigint);
drop function htm.canonical_tag(text, text, int);
drop function htm.tag_meant(text, text);
drop function htm.tag_name_lock(text, text);
drop function htm.tag_changes_lock(text);
