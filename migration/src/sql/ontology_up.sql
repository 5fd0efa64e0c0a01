-- What an ontology needs that people change: what a tag means, the names it had, and a log from which every change can
-- be undone. Programs of schema version 3 that still run work on beside it.

-- ── tags and their other names ──────────────────────────────────────────────────────────────────────────
alter table htm.tags
    add column description text,
    add column split_into  text[],
    add column split_rest  text not null default 'keep' constraint tags_split_rest_known check (split_rest in ('keep', 'first'));
comment on column htm.tags.description is 'What it is about; from a template, an import or a person.';
comment on column htm.tags.split_into is 'The tags that take its place: a tagger is shown these, and not it.';

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
    'Former and other names: who writes or asks for one, or for something below it, means the tag.';

-- A fuzzy search by trigram, of the whole name and of its last level.
create index tags_path_trigram_idx on htm.tags using gin (path gin_trgm_ops);
create index tags_leaf_trigram_idx on htm.tags using gin (substring(path from '[^:]*$') gin_trgm_ops);

-- The path and those above it, `a:b` for one: a, a:b.
create function htm.tag_lineage(in_path text) returns setof text language sql immutable strict parallel safe as $$
    select array_to_string(levels[1:n], ':')
      from (select string_to_array(in_path, ':') as levels) l, generate_series(1, cardinality(levels)) n
$$;

-- What a path is called now. The longest part of it that is a synonym gives way to its tag, again and again; what then
-- has more than five levels, or 255 bytes, loses the deepest.
create function htm.canonical_tag(in_namespace text, in_path text) returns text
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

-- Who changes the names of a namespace's tags holds this alone; who registers tags shares it, so that no tag is renamed
-- between its registration and its assignment.
create function htm.tag_names_lock(in_namespace text) returns bigint language sql immutable strict as $$
    select hashtextextended('htm.tags ' || in_namespace, 0)
$$;

-- Registers tags and those above them, and says what each is called. Two callers that bring the same new tag create it
-- once: the second waits for the first's commit and then does nothing. Each statement sees what was committed before it:
-- the names are read after the lock is had. A path that is null only holds the names of its namespace.
create function htm.register_tags(in_namespaces text[], in_paths text[])
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

-- Tags that were assigned before have those above them too.
insert into htm.tags (namespace, path)
select distinct t.namespace, l.path
  from htm.tags t cross join lateral htm.tag_lineage(t.path) l(path)
on conflict on constraint tags_namespace_path_key do nothing;

-- ── what was changed ────────────────────────────────────────────────────────────────────────────────────
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
comment on table htm.tag_changes is 'Every change of the ontology by people, the first first; details say what was asked for.';
comment on column htm.tag_changes.nodes is 'How many have other tags by it, or tags that are called otherwise.';
comment on column htm.tag_changes.reverted_by is 'The change that undid this one.';

-- What a change took away and what it added, by path: rows of the tags may go and come.
create table htm.tag_change_nodes (
    change_id  bigint not null constraint tag_change_nodes_change_fk references htm.tag_changes on delete cascade,
    node_id    bigint not null constraint tag_change_nodes_node_fk references htm.nodes on delete cascade,
    path       text collate "C" not null,
    added      boolean not null,
    assignment jsonb not null,
    constraint tag_change_nodes_pk primary key (change_id, node_id, path, added)
);
create index tag_change_nodes_node_idx on htm.tag_change_nodes (node_id);
comment on column htm.tag_change_nodes.assignment is
    'What was taken away, overwritten or added: origin, model, prompt_version, confidence, created_at.';
create table htm.tag_change_names (
    change_id  bigint not null constraint tag_change_names_change_fk references htm.tag_changes on delete cascade,
    path       text collate "C" not null,
    before     jsonb,
    after      jsonb,
    moved_from text collate "C",
    constraint tag_change_names_pk primary key (change_id, path)
);
comment on table htm.tag_change_names is
    'What each name was before a change and after it: null nothing, {"tag": {description, split_into}}, {"synonym": path}.';
comment on column htm.tag_change_names.moved_from is
    'What the tag was called: its row got this name, and kept its assignments, which are not in the log.';
