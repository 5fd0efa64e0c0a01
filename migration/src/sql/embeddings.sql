-- A row for each model. Each model has a table for its vectors, with its own dimensions: vectors are never padded or
-- mixed. Each model has a queue, so that a worker claims only jobs of its model, and a pause of one model does not
-- affect the others. The vectors of the provider `caller` come with the writes: its models have no queue.
create table htm.embedding_models (
    id         integer generated always as identity constraint embedding_models_pk primary key,
    provider   text not null,
    name       text not null,
    dimensions integer not null constraint embedding_models_dimensions_range check (dimensions between 1 and 4000),
    distance   text not null default 'cosine' constraint embedding_models_distance_known check (distance in ('cosine')),
    state      text not null default 'building'
               constraint embedding_models_state_known check (state in ('building', 'active', 'standby', 'retired')),
    label      text not null constraint embedding_models_label_key unique,
    queue      text constraint embedding_models_queue_key unique,
    index_kind text not null default 'hnsw' constraint embedding_models_index_kind_known
               check (index_kind in ('hnsw', 'hnsw_binary', 'diskann', 'vchordrq', 'none')),
    created_at timestamptz not null default now(),
    constraint embedding_models_name_key unique (provider, name, dimensions),
    constraint embedding_models_queue_unless_caller check ((queue is null) = (provider = 'caller'))
);
create unique index embedding_models_one_active on htm.embedding_models (state) where state = 'active';
comment on column htm.embedding_models.label is 'provider/name, with @dimensions if another model has that name.';
comment on column htm.embedding_models.queue is 'The queue of its jobs; null: its callers bring the vectors.';
comment on column htm.embedding_models.state is
    'building: written to, not complete; active: recall asks it; standby: complete, was active; retired: not written to.';

comment on column htm.embedding_models.index_kind is 'The kind of the index of its vectors; none: each search compares them all.';

-- The statements that create the index of a model's table, of the model's kind or another one; none if there is a valid one,
-- and for the kind `none`. The caller runs each by itself, because `concurrently` needs to be outside of a transaction. The
-- partitions of a table get theirs first, and the table's own index becomes valid with the last of them. The remains of an
-- interrupted build are dropped. Recall's order of the vectors must match the indexed expression, see
-- store/vector_index.rs. DiskANN has no operators for halfvec.
create function htm.embedding_index(model_id integer, how text, other_kind text default null, in_schema name default 'htm')
    returns setof text language plpgsql stable as $$
declare
    model   htm.embedding_models;
    kind    text;
    method  text;
    store   regclass;
    leaf    regclass;
    index   text; -- of the table
    partial text; -- of a table that has rows
    valid   boolean;
begin
    select * into strict model from htm.embedding_models m where m.id = model_id;
    kind := coalesce(other_kind, model.index_kind);
    method := case kind
        when 'hnsw' then 'hnsw (embedding halfvec_cosine_ops) with (m = 16, ef_construction = 64)'
        when 'hnsw_binary' then format('hnsw ((binary_quantize(embedding)::bit(%s)) bit_hamming_ops)
                                        with (m = 16, ef_construction = 64)', model.dimensions)
        when 'diskann' then format('diskann ((embedding::vector(%s)) vector_cosine_ops)', model.dimensions)
        when 'vchordrq' then 'vchordrq (embedding halfvec_cosine_ops)'
    end;
    if method is null then return; end if;
    store := format('%I.embeddings_%s', in_schema, model_id);
    index := format('embeddings_%s_%s_idx', model_id, kind);
    if (select i.indisvalid from pg_index i where i.indexrelid = to_regclass(format('%I.%I', in_schema, index))) then
        return;
    end if;
    for leaf in select l from htm.leaves(store) l loop
        partial := (select format('%s_%s_idx', c.relname, kind) from pg_class c where c.oid = leaf);
        valid := (select i.indisvalid from pg_index i where i.indexrelid = to_regclass(format('%I.%I', in_schema, partial)));
        if not valid then
            return next format('drop index %s if exists %I.%I', how, in_schema, partial);
        end if;
        if valid is not true then
            return next format('create index %s %I on %s using %s', how, partial, leaf, method);
        end if;
    end loop;
    if partial <> index then
        return next format('create index if not exists %I on only %s using %s', index, store, method);
        return query select format('alter index %1$I.%2$I attach partition %1$I.%3$I', in_schema, index,
                                   (select c.relname from pg_class c where c.oid = l) || format('_%s_idx', kind))
                       from htm.leaves(store) l;
    end if;
end $$;

-- The statement that drops a model's index of a kind, if there is one. PostgreSQL drops that of a partitioned table only
-- with a lock.
create function htm.drop_embedding_index(model_id integer, kind text) returns text language sql stable as $$
    select format('drop index %s if exists htm.embeddings_%s_%s_idx',
                  case when htm.partitions() = 0 then 'concurrently' end, model_id, kind)
$$;

-- Half precision takes half the storage and gives the same order of hits. Its index allows 4,000 dimensions, that of
-- `vector` only 2,000. Namespace and time are beside the vector, so that filters need no join. The foreign key locks
-- htm.nodes for a moment. The lock timeout bounds the wait for a long transaction, because every write would queue up
-- behind it.
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
        ) %3$s $ddl$, model_id, dimensions, case when htm.partitions() > 0 then 'partition by hash (namespace)' end);
    perform htm.make_partitions(format('htm.embeddings_%s', model_id)::regclass, htm.partitions());
    execute format('create index embeddings_%1$s_scope_idx on htm.embeddings_%1$s (namespace, created_at)', model_id);
    perform htm.name_partial_indexes(format('htm.embeddings_%s', model_id)::regclass);
    perform htm.set_row_policies('htm.embeddings_' || model_id, htm.row_is_seen('namespace'));
end $$;

-- Only the first model, which is active at once, gets its index now, because filling a table with an index is slow. The
-- function runs as the schema's owner: workers register their model, but may not create tables.
create function htm.register_embedding_model(provider text, name text, dimensions integer) returns integer
    language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
    model    htm.embedding_models;
    new_id   integer;
    plain    text := $1 || '/' || $2;
    is_first boolean;
    creation text;
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
    -- A further model has the kind of index of the active one.
    insert into htm.embedding_models (id, provider, name, dimensions, state, index_kind, label, queue)
    overriding system value
    values (new_id, $1, $2, $3, case when is_first then 'active' else 'building' end,
            coalesce((select m.index_kind from htm.embedding_models m where m.state = 'active'), 'hnsw'),
            plain || case when exists (select from htm.embedding_models m where m.label = plain)
                          then '@' || $3 else '' end,
            case when $1 = 'caller' then null
                 when exists (select from htm.embedding_models m where m.queue = 'htm.embed')
                 then 'htm.embed.' || new_id else 'htm.embed' end);
    perform htm.make_embedding_store(new_id, $3);
    if is_first then
        for creation in select htm.embedding_index(new_id, '') loop
            execute creation;
        end loop;
    end if;
    return new_id;
end $$;

-- Takes a retired model into use again, and creates its table if it was dropped. Other models are left as they are.
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

-- Drops a retired model's table and its completions.
create function htm.drop_embedding_store(model_id integer) returns void
    language plpgsql set lock_timeout = '5s' as $$
declare
    gone htm.embedding_models;
begin
    perform pg_advisory_xact_lock(hashtext('htm.embedding_models'));
    select * into strict gone from htm.embedding_models where id = model_id;
    if gone.state <> 'retired' then raise exception 'model % is %, not retired', gone.label, gone.state; end if;
    delete from htm.completions c where c.stage = 'embed' and c.model = gone.label;
    -- Last, because it also locks htm.nodes.
    execute format('drop table if exists htm.embeddings_%s', model_id);
end $$;
-- For the roles that `htm db migrate --application-role` names, and for the owner.
revoke execute on function htm.register_embedding_model, htm.make_embedding_store, htm.revive_embedding_model,
    htm.drop_embedding_store from public;
comment on function htm.register_embedding_model is
    'Returns the id of a model and creates its table htm.embeddings_<id>. The first model becomes the active one.';
