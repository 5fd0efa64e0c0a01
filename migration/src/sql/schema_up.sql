-- The schema of HTM. Apalis' own schema (`apalis`) is migrated before this one.
-- Every constraint has a name that says what it holds.
create extension if not exists vector with schema public;
create extension if not exists pg_trgm with schema public;

-- ── robots ──────────────────────────────────────────────────────────────────────────────────────────────
create table htm.robots (
    id         bigint generated always as identity constraint robots_pk primary key,
    uuid       uuid not null default gen_random_uuid() constraint robots_uuid_key unique,
    namespace  text collate "C" not null
               constraint robots_namespace_valid check (octet_length(namespace) between 1 and 128),
    name       text collate "C" not null
               constraint robots_name_valid check (octet_length(name) between 1 and 128),
    metadata   jsonb not null default '{}',
    created_at timestamptz not null default now(),
    constraint robots_namespace_name_key unique (namespace, name)
);
comment on table htm.robots is 'The agents that remember; a name is unique in its namespace.';

-- ── nodes ───────────────────────────────────────────────────────────────────────────────────────────────
-- A text search configuration is stored by name: a column of type regconfig would block pg_upgrade. The cast
-- from text is only "stable", but a configuration that nobody alters gives the same vector for ever.
-- A tsvector ends at 1 MB of distinct lexemes, which a text of under 1 MB can exceed when hardly a word of it
-- comes twice: then its first half is indexed, and so on, until it fits.
create function htm.text_vector(language text, content text) returns tsvector
    language plpgsql immutable strict parallel unsafe as $$
begin
    if octet_length(content) <= 262144 then return to_tsvector(language::regconfig, content); end if;
    begin
        return to_tsvector(language::regconfig, content);
    exception when program_limit_exceeded then
        return htm.text_vector(language, left(content, length(content) / 2));
    end;
end $$;

-- The length of a document in words that count, for BM25.
create function htm.document_length(document tsvector) returns integer
    language sql immutable strict parallel safe
    return (select coalesce(sum(coalesce(array_length(positions, 1), 1)), 0)::int from unnest(document));

create table htm.nodes (
    id             bigint generated always as identity constraint nodes_pk primary key,
    namespace      text collate "C" not null
                   constraint nodes_namespace_valid check (octet_length(namespace) between 1 and 128),
    robot_id       bigint not null constraint nodes_robot_fk references htm.robots,
    key            text collate "C"
                   constraint nodes_key_valid check (octet_length(key) between 1 and 512),
    content        text not null
                   constraint nodes_content_not_blank check (content ~ '\S')
                   constraint nodes_content_size check (octet_length(content) <= 1048576),
    content_hash   bytea not null constraint nodes_content_hash_sha256 check (octet_length(content_hash) = 32),
    revision       integer not null default 1 constraint nodes_revision_positive check (revision >= 1),
    speaker        text,
    session        text,
    seq            integer,
    source         text,
    type           text,
    importance     real not null default 1 constraint nodes_importance_range check (importance between 1 and 10),
    token_count    integer not null constraint nodes_token_count_positive check (token_count >= 0),
    token_encoding text not null,
    language       text not null default 'english',
    metadata       jsonb not null default '{}'
                   constraint nodes_metadata_object check (jsonb_typeof(metadata) = 'object'),
    created_at     timestamptz not null default now(),
    updated_at     timestamptz not null default now(),
    deleted_at     timestamptz,
    tsv            tsvector not null generated always as (htm.text_vector(language, content)) stored
);
comment on table htm.nodes is 'The memories. Long-term: a row goes only when somebody asks for it.';
create unique index nodes_namespace_key_key on htm.nodes (namespace, key)
    where key is not null and deleted_at is null;
create index nodes_namespace_created_at_idx on htm.nodes (namespace, created_at);
create index nodes_tsv_idx on htm.nodes using gin (tsv);

-- ── tags ────────────────────────────────────────────────────────────────────────────────────────────────
-- Collation C: a prefix query is a range of the unique index.
create table htm.tags (
    id         bigint generated always as identity constraint tags_pk primary key,
    namespace  text collate "C" not null,
    path       text collate "C" not null constraint tags_path_valid
               check (path ~ '^[a-z0-9-]+(:[a-z0-9-]+){0,4}$' and octet_length(path) <= 255),
    created_at timestamptz not null default now(),
    constraint tags_namespace_path_key unique (namespace, path)
);

create table htm.node_tags (
    node_id        bigint not null constraint node_tags_node_fk references htm.nodes on delete cascade,
    tag_id         bigint not null constraint node_tags_tag_fk references htm.tags,
    origin         text not null
                   constraint node_tags_origin_known check (origin in ('manual', 'llm', 'local', 'rule')),
    model          text,
    prompt_version text,
    confidence     real constraint node_tags_confidence_range check (confidence between 0 and 1),
    created_at     timestamptz not null default now(),
    constraint node_tags_pk primary key (node_id, tag_id)
);
create index node_tags_tag_idx on htm.node_tags (tag_id, node_id);

-- ── embeddings ──────────────────────────────────────────────────────────────────────────────────────────
-- A row a model; its vectors live in a table of their own, of its own dimension: never padded, never mixed.
create table htm.embedding_models (
    id         integer generated always as identity constraint embedding_models_pk primary key,
    provider   text not null,
    name       text not null,
    dimensions integer not null constraint embedding_models_dimensions_range check (dimensions between 1 and 4000),
    distance   text not null default 'cosine' constraint embedding_models_distance_known check (distance in ('cosine')),
    state      text not null default 'building'
               constraint embedding_models_state_known check (state in ('building', 'active', 'retired')),
    created_at timestamptz not null default now(),
    constraint embedding_models_name_key unique (provider, name, dimensions)
);
create unique index embedding_models_one_active on htm.embedding_models (state) where state = 'active';

-- Half precision: half the storage and index, the same order of hits, and 4,000 dimensions can be indexed
-- where `vector` ends at 2,000. Namespace and time stand beside the vector so that filters stay on the table.
create function htm.register_embedding_model(provider text, name text, dimensions integer) returns integer
    language plpgsql as $$
declare
    model htm.embedding_models;
begin
    select * into model from htm.embedding_models m
     where (m.provider, m.name, m.dimensions) = ($1, $2, $3);
    if found then return model.id; end if;
    perform pg_advisory_xact_lock(hashtext('htm.register_embedding_model'));
    insert into htm.embedding_models (provider, name, dimensions, state)
    values ($1, $2, $3, case when exists (select from htm.embedding_models m where m.state = 'active')
                             then 'building' else 'active' end)
    on conflict on constraint embedding_models_name_key do nothing
    returning * into model;
    if not found then
        select * into strict model from htm.embedding_models m
         where (m.provider, m.name, m.dimensions) = ($1, $2, $3);
        return model.id;
    end if;
    execute format($ddl$
        create table htm.embeddings_%1$s (
            node_id      bigint not null constraint embeddings_%1$s_pk primary key
                         constraint embeddings_%1$s_node_fk references htm.nodes on delete cascade,
            namespace    text collate "C" not null,
            created_at   timestamptz not null,
            revision     integer not null,
            embedding    halfvec(%2$s) not null
        )$ddl$, model.id, dimensions);
    execute format('create index embeddings_%1$s_scope_idx on htm.embeddings_%1$s (namespace, created_at)', model.id);
    execute format('create index embeddings_%1$s_hnsw_idx on htm.embeddings_%1$s
                    using hnsw (embedding halfvec_cosine_ops) with (m = 16, ef_construction = 64)', model.id);
    return model.id;
end $$;
comment on function htm.register_embedding_model is
    'Returns the id of a model and makes its store htm.embeddings_<id>; the first model becomes the active one.';

-- ── jobs ────────────────────────────────────────────────────────────────────────────────────────────────
-- What is done, for ever: also where the outcome is zero tags, and after the job's row was pruned.
create table htm.completions (
    node_id  bigint not null constraint completions_node_fk references htm.nodes on delete cascade,
    revision integer not null,
    stage    text not null constraint completions_stage_known check (stage in ('embed', 'tag')),
    model    text not null,
    version  text not null default '',
    outcome  text not null,
    worker   text not null,
    attempt  integer not null,
    done_at  timestamptz not null default now(),
    constraint completions_pk primary key (node_id, revision, stage, model)
);

-- How long each worker may go unseen: its own setting, so that no other worker judges it by another.
create table htm.worker_leases (
    worker   text not null constraint worker_leases_pk primary key
             constraint worker_leases_worker_fk references apalis.workers on delete cascade,
    lease_ms bigint not null constraint worker_leases_lease_positive check (lease_ms > 0)
);

-- The jobs of a node that are not done: for status, and for the count of nodes that recall cannot see yet.
create index jobs_htm_open_idx on apalis.jobs ((metadata -> 'namespace'), (metadata -> 'node'))
    where status <> 'Done' and job_type like 'htm.%';
-- Claims and acks rewrite rows all day: vacuum early, or the claim's index walks over the dead.
alter table apalis.jobs set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

-- Live nodes that have neither their artefact nor a job that will make it nor a dead letter that says why.
-- The pipeline's promise is that this view is empty.
create view htm.stranded as
select n.id as node_id, n.namespace, n.revision, s.stage
  from htm.nodes n
 cross join (values ('embed'), ('tag')) s(stage)
 where n.deleted_at is null
   and not exists (select from htm.completions c
                    where c.node_id = n.id and c.revision = n.revision and c.stage = s.stage)
   and not exists (select from apalis.jobs j
                    where j.job_type = 'htm.' || s.stage and j.status <> 'Done'
                      and j.metadata -> 'namespace' = n.namespace collate "default" -- the index's
                      and j.metadata -> 'node' = n.id::text
                      and j.metadata -> 'revision' = n.revision::text);

-- ── statistics for BM25 ─────────────────────────────────────────────────────────────────────────────────
create table htm.namespace_statistics (
    namespace      text collate "C" not null constraint namespace_statistics_pk primary key,
    node_count     bigint not null default 0,
    average_length real not null default 1,
    unseen_count   bigint not null default 0,
    refreshed_at   timestamptz
);
comment on column htm.namespace_statistics.unseen_count is 'Nodes written since the last refresh.';

create table htm.lexeme_statistics (
    namespace  text collate "C" not null,
    lexeme     text collate "C" not null,
    node_count integer not null,
    constraint lexeme_statistics_pk primary key (namespace, lexeme)
);

-- How far the refresher has looked: it reads only newer nodes to learn which namespaces changed.
create table htm.statistics_watermark (
    only_row boolean not null default true
             constraint statistics_watermark_pk primary key
             constraint statistics_watermark_one_row check (only_row),
    node_id  bigint not null
);
insert into htm.statistics_watermark (node_id) values (0);

create function htm.refresh_statistics(in_namespace text) returns void language plpgsql as $$
begin
    delete from htm.lexeme_statistics where namespace = in_namespace;
    insert into htm.lexeme_statistics (namespace, lexeme, node_count)
    select in_namespace, word, ndoc
      from ts_stat(format('select tsv from htm.nodes where namespace = %L and deleted_at is null', in_namespace));
    insert into htm.namespace_statistics as s (namespace, node_count, average_length, unseen_count, refreshed_at)
    select in_namespace, count(*), greatest(coalesce(avg(htm.document_length(tsv)), 1), 1), 0, now()
      from htm.nodes where namespace = in_namespace and deleted_at is null
    on conflict (namespace) do update
       set (node_count, average_length, unseen_count, refreshed_at)
         = (excluded.node_count, excluded.average_length, 0, excluded.refreshed_at);
end $$;
