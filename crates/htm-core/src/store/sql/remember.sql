-- Writes nodes and their jobs in one statement.
--
-- An item with a taken key, a duplicate content or an unregistered robot is left out: its `ord` is missing in the result,
-- and the caller looks for the cause.
--
-- Of each item: :namespaces text[]   :robots text[] names   :keys text[] or null   :contents text[]
-- :hashes bytea[] SHA-256 of the content   :speakers text[] or null   :sessions text[] or null   :seqs int[] or null
-- :sources text[] or null   :types text[] or null   :importances real[]   :token_counts int[]   :languages text[]
-- :metadata jsonb[]   :times timestamptz[] or null = now   :embed_jobs text[] and :tag_jobs text[] ids of its jobs
-- :priorities int[] of its jobs
-- :expiries timestamptz[] or null   :ttls bigint[] or null, seconds from now to the expiry
-- :scopes bigint[] where the content must be unique: 0 in its namespace, -1 among its robot's, null: nowhere
--
-- Of all: :token_encoding text   :embedding_model text as long as none is registered   :tag_model text   :max_attempts int
--
-- Index: robots_namespace_name_key, nodes_namespace_key_key, nodes_duplicate_key
with item as materialized (
    -- The id is drawn first, in the order of what was asked for: it ties what was inserted to it.
    select nextval('htm.nodes_id_seq') as id, s.*
      from (select r.id as robot_id, u.*
              from unnest(:namespaces::text[], :robots::text[], :keys::text[], :contents::text[], :hashes::bytea[],
                          :speakers::text[], :sessions::text[], :seqs::int[], :sources::text[], :types::text[],
                          :importances::real[], :token_counts::int[], :languages::text[], :metadata::jsonb[],
                          :times::timestamptz[], :embed_jobs::text[], :tag_jobs::text[], :scopes::bigint[],
                          :priorities::int[], :expiries::timestamptz[], :ttls::bigint[]) with ordinality
                as u(namespace, robot, key, content, content_hash, speaker, session, seq,
                     source, type, importance, token_count, language, metadata,
                     created_at, embed_job, tag_job, duplicate_scope, priority, expires_at, ttl, ord)
              join htm.robots r on r.namespace = u.namespace and r.name = u.robot
             order by u.ord) s
), node as (
    insert into htm.nodes (id, namespace, robot_id, key, content, content_hash, speaker, session, seq, source, type,
                           importance, token_count, token_encoding, language, metadata, created_at, duplicate_scope,
                           expires_at, ttl_seconds)
    overriding system value
    select id, namespace, robot_id, key, content, content_hash, speaker, session, seq, source, type,
           importance, token_count, :token_encoding, language, metadata, coalesce(created_at, now()),
           case duplicate_scope when -1 then robot_id else duplicate_scope end,
           coalesce(expires_at, now() + ttl * interval '1 second'), ttl
      from item
     -- Of two items with one key, or one content, the first goes in. Two batches that have the same of either meet in
     -- the same order: they wait for one another, and never both.
     order by namespace, key, case when key is null then content_hash end, ord
    on conflict do nothing -- by the key or by the content
    returning id, namespace, revision
), target as materialized (
    -- Every model that is in use gets every node; the first one takes the id that the caller drew.
    select 'embed' as stage, queue, label as model, row_number() over (order by id) = 1 as is_first
      from htm.embedding_models
     where state <> 'retired' and queue is not null
    union all
    select 'embed', 'htm.embed', :embedding_model::text, true
     where not exists (select from htm.embedding_models where state <> 'retired')
    union all
    select 'tag', 'htm.tag', :tag_model::text, true
), job as (
    insert into apalis.jobs (id, job_type, job, status, attempts, max_attempts, run_at, priority,
                             metadata, idempotency_key)
    select case when not t.is_first then apalis.generate_ulid() when t.stage = 'tag' then i.tag_job else i.embed_job end,
           t.queue,
           convert_to(json_build_object('v', 1, 'node', n.id, 'revision', n.revision)::text, 'UTF8'),
           'Pending', 0, :max_attempts, now(), i.priority,
           hstore(array['namespace', n.namespace, 'node', n.id::text, 'revision', n.revision::text]),
           concat_ws('/', n.id, n.revision, 0, t.model)
      from node n
      join item i on i.id = n.id
     cross join target t
    on conflict (job_type, idempotency_key) do nothing
)
select i.ord, n.id from node n join item i on i.id = n.id
