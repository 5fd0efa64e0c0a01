-- Metadata and robots as filters, and how often a memory was recalled. Programs of schema version 5 that still run work on beside it.

-- ── metadata ────────────────────────────────────────────────────────────────────────────────────────────
-- Answers `metadata @> '{"project": "apollo"}'`. What has none stays out: most writes do not touch it.
create index nodes_metadata_idx on htm.nodes using gin (metadata jsonb_path_ops)
    where deleted_at is null and metadata <> '{}';

-- ── robots ──────────────────────────────────────────────────────────────────────────────────────────────
-- What one robot of many remembered is found without walking through what the others did.
create index nodes_robot_idx on htm.nodes (robot_id) where deleted_at is null;

-- A program that has a robot open goes on as the one that it was merged into.
create table htm.merged_robots (
    robot_id bigint not null constraint merged_robots_pk primary key,
    into_id  bigint not null constraint merged_robots_into_fk references htm.robots on delete cascade
);
create index merged_robots_into_idx on htm.merged_robots (into_id);
comment on table htm.merged_robots is 'Robots that are no more, and the robots that have what was theirs.';

-- ── accesses ────────────────────────────────────────────────────────────────────────────────────────────
-- Beside the nodes, and without an index on what changes: a count is a HOT update, and no index of a node is touched.
create table htm.node_accesses (
    node_id       bigint not null constraint node_accesses_pk primary key
                  constraint node_accesses_node_fk references htm.nodes on delete cascade,
    access_count  bigint not null constraint node_accesses_count_positive check (access_count > 0),
    last_accessed timestamptz not null
) with (fillfactor = 70);
comment on table htm.node_accesses is 'How often a node was among the hits of a recall, and when last. Written behind the recalls, in batches.';

-- ── assignments of tags ─────────────────────────────────────────────────────────────────────────────────
-- With the time, so that how many nodes have a tag, and since when, is read from the index alone.
drop index htm.node_tags_tag_idx;
create index node_tags_tag_idx on htm.node_tags (tag_id, node_id) include (created_at);

-- ── names of tags ───────────────────────────────────────────────────────────────────────────────────────
-- What a path means, for who asks: the longest part of it that is a synonym gives way to its tag, again and again; a
-- level that only repeats the one above it is left out. The name may be none that a tag can have.
create function htm.tag_meant(in_namespace text, in_path text) returns text
    language plpgsql stable strict parallel safe as $$
declare
    name   text := in_path;
    called text;
begin
    for step in 1..16 loop
        select regexp_replace(t.path, '[^:]*$', '')
               || regexp_replace(substring(t.path from '[^:]*$') || substr(name, length(s.path) + 1),
                                 '(^|:)([^:]+)(:\2)+(?=:|$)', '\1\2', 'g') into called
          from htm.tag_synonyms s
          join htm.tags t on t.id = s.tag_id
         where s.namespace = in_namespace and s.path in (select htm.tag_lineage(name))
         order by length(s.path) desc limit 1;
        exit when called is null or called = name;
        name := called;
    end loop;
    return name;
end $$;

-- What a path is called, for who tags: what it means. Of a name that is no tag, what breaks the rules is cut off: levels
-- beyond the most, one that came before, bytes beyond 255.
create function htm.canonical_tag(in_namespace text, in_path text, in_max_depth int) returns text
    language plpgsql stable strict parallel safe as $$
declare
    name   text := in_path;
    called text;
    level  text;
    levels text[];
begin
    for step in 1..16 loop
        called := htm.tag_meant(in_namespace, name);
        if called = name or exists (select from htm.tags t where t.namespace = in_namespace and t.path = called) then
            return called;
        end if;
        levels := '{}';
        foreach level in array string_to_array(called, ':') loop
            exit when cardinality(levels) = in_max_depth or level = any (levels)
                      or octet_length(array_to_string(levels || level, ':')) > 255;
            levels := levels || level;
        end loop;
        -- What is left may be a synonym.
        name := array_to_string(levels, ':');
    end loop;
    return name;
end $$;
create or replace function htm.canonical_tag(in_namespace text, in_path text) returns text
    language sql stable strict parallel safe as $$ select htm.canonical_tag(in_namespace, in_path, 5) $$;

-- Who changes the names of a namespace's tags, and who takes assignments from any nodes: one of the first, or many of
-- the second. `htm.tag_names_lock` is shared by all of this version: those of schema version 5 who change names hold it alone.
create function htm.tag_changes_lock(in_namespace text) returns bigint language sql immutable strict as $$
    select hashtextextended('htm.tag_changes ' || in_namespace, 0)
$$;

-- Names are held by one of 256 locks each. Who registers a tag shares those of its path and of all above it; who changes
-- what names mean holds theirs alone: a change keeps nobody from tags that it is not about.
create function htm.tag_name_lock(in_namespace text, in_path text) returns bigint language sql immutable strict as $$
    select (hashtextextended('htm.tag_names ' || in_namespace, 0) & ~255::bigint) | (hashtextextended(in_path, 0) & 255)
$$;

-- Registers tags and those above them, and says what each is called. Two callers that bring the same new tag create it
-- once: the second waits for the first's commit and then does nothing. Each statement sees what was committed before it:
-- the names are read after the locks are had. A path that is null keeps the names of its namespace as they are, all of
-- them. Who changes a million nodes is not waited for (lock_not_available). A namespace gets no more than in_most tags:
-- what has no room is called null. Callers at the same time do not count each other's.
create function htm.register_tags(in_namespaces text[], in_paths text[], in_max_depth int, in_most bigint)
    returns table (namespace text, path text, tag text) language plpgsql volatile set lock_timeout = '5s' as $$
#variable_conflict use_column
declare
    held  bigint[] := '{}';
    named jsonb;
    locks bigint[];
begin
    perform pg_advisory_xact_lock_shared(htm.tag_names_lock(n.name))
       from (select distinct u.name from unnest(in_namespaces) u(name) order by 1) n;
    perform pg_advisory_xact_lock_shared(htm.tag_changes_lock(n.name))
       from (select distinct u.name from unnest(in_namespaces, in_paths) u(name, path) where u.path is null order by 1) n;
    loop
        select jsonb_agg(jsonb_build_array(u.namespace, u.path,
                                           case when exists (select from htm.tag_synonyms s
                                                              where s.namespace = u.namespace
                                                                and s.path in (select htm.tag_lineage(u.path)))
                                                then htm.canonical_tag(u.namespace, u.path, in_max_depth)
                                                else u.path end))
          into named
          from (select distinct g.namespace, g.path from unnest(in_namespaces, in_paths) g(namespace, path)) u
         where u.path is not null;
        -- Of what was written, and of what it is called: until those are held, somebody may change it.
        locks := array(select distinct htm.tag_name_lock(n.value ->> 0, l.path)
                         from jsonb_array_elements(named) n,
                              lateral (values (n.value ->> 1), (n.value ->> 2)) called(path),
                              lateral htm.tag_lineage(called.path) l(path)
                        order by 1);
        exit when locks <@ held;
        perform pg_advisory_xact_lock_shared(l.id) from (select u.id from unnest(locks) u(id) order by 1) l;
        held := held || locks;
    end loop;
    return query
    with called as materialized (
        select n.value ->> 0 as namespace, n.value ->> 1 as path, n.value ->> 2 as tag
          from jsonb_array_elements(named) n
    ), fresh as materialized (
        -- What stands above comes first.
        select n.namespace, n.path, row_number() over (partition by n.namespace order by n.path) as place
          from (select distinct c.namespace, l.path collate "C" as path
                  from called c
                 cross join lateral htm.tag_lineage(c.tag) l(path)
                 where not exists (select from htm.tags k where k.namespace = c.namespace and k.path = l.path)) n
    ), room as materialized (
        -- Counted only for who brings a new tag.
        select n.namespace,
               in_most - (select count(*) from (select from htm.tags k where k.namespace = n.namespace limit in_most) k) as free
          from (select distinct namespace from fresh) n
    ), made as (
        insert into htm.tags as t (namespace, path)
        select n.namespace, n.path from fresh n join room r on r.namespace = n.namespace and n.place <= r.free
         order by 1, 2
        on conflict on constraint tags_namespace_path_key do nothing
    )
    select c.namespace, c.path,
           case when not exists (select from fresh n
                                   join room r on r.namespace = n.namespace and n.place > r.free
                                  where n.namespace = c.namespace and (n.path = c.tag or starts_with(c.tag, n.path || ':')))
                then c.tag end
      from called c;
end $$;
create or replace function htm.register_tags(in_namespaces text[], in_paths text[])
    returns table (namespace text, path text, tag text) language sql volatile as $$
    select * from htm.register_tags(in_namespaces, in_paths, 5, 50000)
$$;

-- ── languages ───────────────────────────────────────────────────────────────────────────────────────────
-- Which languages a namespace has: recall reads its query in each of them. A handful of values: a step in the index each.
create index nodes_language_idx on htm.nodes (namespace, language);
