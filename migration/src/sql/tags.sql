-- With collation C a prefix query is a range of the unique index.
create table htm.tags (
    id            bigint generated always as identity constraint tags_pk primary key,
    namespace     text collate "C" not null,
    path          text collate "C" not null constraint tags_path_valid
                  check (path ~ '^[a-z0-9-]+(:[a-z0-9-]+){0,4}$' and octet_length(path) <= 255),
    created_at    timestamptz not null default now(),
    description   text,
    split_into    text[],
    split_rest    text not null default 'keep' constraint tags_split_rest_known check (split_rest in ('keep', 'first')),
    distinct_from text[],
    constraint tags_namespace_path_key unique (namespace, path)
);
comment on column htm.tags.description is 'The description, from a template, an import or a person.';
comment on column htm.tags.split_into is 'The tags that replace it. A tagger is shown these instead of it.';
comment on column htm.tags.split_rest is 'The tag of nodes that fit none of those: keep: this one, first: the first of those.';
comment on column htm.tags.distinct_from is
    'Tags that somebody told apart from it: no merge with them is suggested. A pair is on one of its tags.';
-- For fuzzy search by trigrams, of the whole name and of its last level.
create index tags_path_trigram_idx on htm.tags using gin (path gin_trgm_ops);
create index tags_leaf_trigram_idx on htm.tags using gin (substring(path from '[^:]*$') gin_trgm_ops);

create table htm.node_tags (
    namespace      text collate "C" not null,
    node_id        bigint not null,
    tag_id         bigint not null constraint node_tags_tag_fk references htm.tags,
    origin         text not null
                   constraint node_tags_origin_known check (origin in ('manual', 'llm', 'local', 'rule')),
    model          text,
    prompt_version text,
    confidence     real constraint node_tags_confidence_range check (confidence between 0 and 1),
    created_at     timestamptz not null default now(),
    constraint node_tags_pk primary key (node_id, tag_id, namespace),
    constraint node_tags_node_fk foreign key (node_id, namespace) references htm.nodes (id, namespace) on delete cascade
);
-- It includes the time, so that the number of a tag's nodes, and since when they have it, is read from the index alone.
create index node_tags_tag_idx on htm.node_tags (tag_id, node_id) include (created_at);

create table htm.tag_synonyms (
    namespace  text collate "C" not null,
    path       text collate "C" not null constraint tag_synonyms_path_valid
               check (path ~ '^[a-z0-9-]+(:[a-z0-9-]+){0,4}$' and octet_length(path) <= 255),
    tag_id     bigint not null constraint tag_synonyms_tag_fk references htm.tags on delete cascade,
    created_at timestamptz not null default now(),
    constraint tag_synonyms_pk primary key (namespace, path)
);
create index tag_synonyms_tag_idx on htm.tag_synonyms (tag_id);
comment on table htm.tag_synonyms is
    'Former and alternative names of tags. Such a name, or a tag below it, means the tag.';

-- ── names ───────────────────────────────────────────────────────────────────────────────────────────────
-- The path and its ancestors: a and a:b for `a:b`.
create function htm.tag_lineage(in_path text) returns setof text language sql immutable strict parallel safe as $$
    select array_to_string(levels[1:n], ':')
      from (select string_to_array(in_path, ':') as levels) l, generate_series(1, cardinality(levels)) n
$$;

-- The meaning of a path in a query. Its longest prefix that is a synonym is replaced by the synonym's tag, repeatedly.
-- A level that repeats the one above it is left out. The result may break the rules of tags.
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

-- The name of a path as a tag: its meaning, brought into the rules of tags if there is no such tag. Levels beyond the
-- maximum, repeated levels and bytes beyond 255 are cut off.
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
        -- The rest may be a synonym.
        name := array_to_string(levels, ':');
    end loop;
    return name;
end $$;

-- The lock of a namespace's tag changes. A change of names holds it alone. Changes that remove assignments from nodes
-- share it.
create function htm.tag_changes_lock(in_namespace text) returns bigint language sql immutable strict as $$
    select hashtextextended('htm.tag_changes ' || in_namespace, 0)
$$;

-- The lock of a name, one of 256. The registration of a tag shares the locks of its path and of its ancestors. A change
-- of names holds their locks alone, so that it does not block other tags.
create function htm.tag_name_lock(in_namespace text, in_path text) returns bigint language sql immutable strict as $$
    select (hashtextextended('htm.tag_names ' || in_namespace, 0) & ~255::bigint) | (hashtextextended(in_path, 0) & 255)
$$;

-- Registers tags and their ancestors, and returns the name of each. Concurrent callers with the same new tag create it
-- once: the second one waits for the first one's commit and then finds it. Each statement sees what was committed
-- before it, so the names are read after the locks are taken. A null path locks all names of its namespace. A long
-- change, as of a million nodes, is not waited for: the error is lock_not_available. A namespace gets at most in_most
-- tags, and a tag without room gets the name null. Concurrent callers do not count each other's new tags.
create function htm.register_tags(in_namespaces text[], in_paths text[], in_max_depth int, in_most bigint)
    returns table (namespace text, path text, tag text) language plpgsql volatile set lock_timeout = '5s' as $$
#variable_conflict use_column
declare
    held  bigint[] := '{}';
    named jsonb;
    locks bigint[];
begin
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
        -- The locks of the given paths and of their names. Until all are held, a name may change.
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
        -- Ancestors come first.
        select n.namespace, n.path, row_number() over (partition by n.namespace order by n.path) as place
          from (select distinct c.namespace, l.path collate "C" as path
                  from called c
                 cross join lateral htm.tag_lineage(c.tag) l(path)
                 where not exists (select from htm.tags k where k.namespace = c.namespace and k.path = l.path)) n
    ), room as materialized (
        -- Counted only if there is a new tag.
        select n.namespace,
               in_most - (select count(*) from (select from htm.tags k where k.namespace = n.namespace limit in_most) k) as free
          from (select distinct f.namespace from fresh f) n
    ), fitting as materialized (
        select c.namespace, c.path,
               case when not exists (select from fresh f
                                       join room r on r.namespace = f.namespace and f.place > r.free
                                      where f.namespace = c.namespace and (f.path = c.tag or starts_with(c.tag, f.path || ':')))
                    then c.tag end as tag
          from called c
    ), made as (
        insert into htm.tags as t (namespace, path)
        select distinct f.namespace, l.path
          from fitting f
         cross join lateral htm.tag_lineage(f.tag) l(path)
         where not exists (select from htm.tags k where k.namespace = f.namespace and k.path = l.path)
         order by 1, 2
        on conflict on constraint tags_namespace_path_key do nothing
    )
    select f.namespace, f.path, f.tag from fitting f;
end $$;

-- ── changes ─────────────────────────────────────────────────────────────────────────────────────────────
create table htm.tag_changes (
    id          bigint generated always as identity constraint tag_changes_pk primary key,
    namespace   text collate "C" not null,
    kind        text not null,
    details     jsonb not null constraint tag_changes_details_object check (jsonb_typeof(details) = 'object'),
    made_by     text,
    made_at     timestamptz not null default now(),
    nodes       bigint not null default 0,
    reverted_by bigint constraint tag_changes_reverted_by_fk references htm.tag_changes
);
create index tag_changes_namespace_idx on htm.tag_changes (namespace, id);
create index tag_changes_made_at_idx on htm.tag_changes (made_at);
comment on table htm.tag_changes is 'Every change of the ontology by people, the oldest first. details has the request.';
comment on column htm.tag_changes.nodes is 'How many nodes got other tags or renamed tags by it.';
comment on column htm.tag_changes.reverted_by is 'The change that undid this one.';

-- The assignments that a change removed and added, by path, because rows of tags may be deleted and created again.
create table htm.tag_change_nodes (
    change_id  bigint not null constraint tag_change_nodes_change_fk references htm.tag_changes on delete cascade,
    namespace  text collate "C" not null,
    node_id    bigint not null,
    path       text collate "C" not null,
    added      boolean not null,
    assignment jsonb not null,
    constraint tag_change_nodes_pk primary key (change_id, node_id, path, added, namespace),
    constraint tag_change_nodes_node_fk foreign key (node_id, namespace) references htm.nodes (id, namespace) on delete cascade
);
create index tag_change_nodes_node_idx on htm.tag_change_nodes (node_id);
comment on column htm.tag_change_nodes.assignment is
    'The assignment that was removed, overwritten or added: origin, model, prompt_version, confidence, created_at.';
create table htm.tag_change_names (
    change_id  bigint not null constraint tag_change_names_change_fk references htm.tag_changes on delete cascade,
    namespace  text collate "C" not null,
    path       text collate "C" not null,
    before     jsonb,
    after      jsonb,
    moved_from text collate "C",
    constraint tag_change_names_pk primary key (change_id, path)
);
comment on table htm.tag_change_names is
    'Each name before and after a change: null for nothing, {"tag": {description, split_into, leftover, distinct_from}}, {"synonym": path}.';
comment on column htm.tag_change_names.moved_from is
    'The former name of a renamed tag. Its row kept its assignments, which are not in the log.';
