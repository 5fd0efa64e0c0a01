-- A row a model; its vectors live in a table of their own, of its own dimension: never padded, never mixed.
-- A queue a model: a worker claims only what it can embed, and pausing one model leaves the others alone.
create table htm.embedding_models (
    id         integer generated always as identity constraint embedding_models_pk primary key,
    provider   text not null,
    name       text not null,
    dimensions integer not null constraint embedding_models_dimensions_range check (dimensions between 1 and 4000),
    distance   text not null default 'cosine' constraint embedding_models_distance_known check (distance in ('cosine')),
    state      text not null default 'building'
               constraint embedding_models_state_known check (state in ('building', 'active', 'standby', 'retired')),
    label      text not null constraint embedding_models_label_key unique,
    queue      text not null constraint embedding_models_queue_key unique,
    created_at timestamptz not null default now(),
    constraint embedding_models_name_key unique (provider, name, dimensions)
);
create unique index embedding_models_one_active on htm.embedding_models (state) where state = 'active';
comment on column htm.embedding_models.label is 'provider/name; @dimensions where another has that name.';
comment on column htm.embedding_models.state is
    'building: written to, not complete; active: what recall asks; standby: complete, was active; retired: no more.';

-- The index of a model's store, as a statement: it may have to run outside of any transaction (concurrently).
create function htm.embedding_index(model_id integer, how text) returns text
    language sql immutable
    return format('create index %s embeddings_%s_hnsw_idx on htm.embeddings_%s
                   using hnsw (embedding halfvec_cosine_ops) with (m = 16, ef_construction = 64)', how, model_id, model_id);

-- Half precision: half the storage and index, the same order of hits, and 4,000 dimensions can be indexed
-- where `vector` ends at 2,000. Namespace and time stand beside the vector so that filters stay on the table.
-- Its foreign key locks htm.nodes for a moment; every write would queue up behind a wait for a long transaction.
create function htm.make_embedding_store(model_id integer, dimensions integer) returns void
    language plpgsql set lock_timeout = '5s' as $$
begin
    execute format($ddl$
        create table htm.embeddings_%1$s (
            node_id    bigint not null,
            namespace  text collate "C" not null,
            created_at timestamptz not null,
            revision   integer not null,
            embedding  halfvec(%2$s) not null,
            constraint embeddings_%1$s_pk primary key (node_id, namespace),
            constraint embeddings_%1$s_node_fk foreign key (node_id, namespace)
                references htm.nodes (id, namespace) on delete cascade
        )$ddl$, model_id, dimensions);
    execute format('create index embeddings_%1$s_scope_idx on htm.embeddings_%1$s (namespace, created_at)', model_id);
end $$;

-- Only the first model, which is active at once, has its index from the start: to fill a store that has one is slow.
-- It runs as the role that owns the schema: workers register their model, and have no right to make tables.
create function htm.register_embedding_model(provider text, name text, dimensions integer) returns integer
    language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
    model    htm.embedding_models;
    new_id   integer;
    plain    text := $1 || '/' || $2;
    is_first boolean;
begin
    select * into model from htm.embedding_models m
     where (m.provider, m.name, m.dimensions) = ($1, $2, $3);
    if found then return model.id; end if;
    perform pg_advisory_xact_lock(hashtext('htm.embedding_models'));
    select * into model from htm.embedding_models m
     where (m.provider, m.name, m.dimensions) = ($1, $2, $3);
    if found then return model.id; end if;
    new_id := nextval('htm.embedding_models_id_seq');
    is_first := not exists (select from htm.embedding_models m where m.state = 'active');
    insert into htm.embedding_models (id, provider, name, dimensions, state, label, queue)
    overriding system value
    values (new_id, $1, $2, $3, case when is_first then 'active' else 'building' end,
            plain || case when exists (select from htm.embedding_models m where m.label = plain)
                          then '@' || $3 else '' end,
            'htm.embed' || case when exists (select from htm.embedding_models m where m.queue = 'htm.embed')
                                then '.' || new_id else '' end);
    perform htm.make_embedding_store(new_id, $3);
    if is_first then execute htm.embedding_index(new_id, ''); end if;
    return new_id;
end $$;

-- Makes a retired model one that is written to again, with a store if it was dropped; the others stay as they are.
create function htm.revive_embedding_model(model_id integer) returns void language plpgsql as $$
declare
    model htm.embedding_models;
begin
    perform pg_advisory_xact_lock(hashtext('htm.embedding_models'));
    update htm.embedding_models set state = 'building' where id = model_id and state = 'retired' returning * into model;
    if found and to_regclass('htm.embeddings_' || model_id) is null then
        perform htm.make_embedding_store(model_id, model.dimensions);
    end if;
end $$;

-- Drops a retired model's store, and what says that it was complete.
create function htm.drop_embedding_store(model_id integer) returns void
    language plpgsql set lock_timeout = '5s' as $$
declare
    gone htm.embedding_models;
begin
    perform pg_advisory_xact_lock(hashtext('htm.embedding_models'));
    select * into strict gone from htm.embedding_models where id = model_id;
    if gone.state <> 'retired' then raise exception 'model % is %, not retired', gone.label, gone.state; end if;
    delete from htm.completions c where c.stage = 'embed' and c.model = gone.label;
    -- Last: it locks htm.nodes as well.
    execute format('drop table if exists htm.embeddings_%s', model_id);
end $$;
-- For the roles that `htm db migrate --application-role` names, and for the owner.
revoke execute on function htm.register_embedding_model, htm.make_embedding_store, htm.revive_embedding_model,
    htm.drop_embedding_store from public;
comment on function htm.register_embedding_model is
    'Returns the id of a model and makes its store htm.embeddings_<id>; the first model becomes the active one.';
