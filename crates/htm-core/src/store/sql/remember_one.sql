-- As remember.sql, for one memory: a row needs no arrays, no order and no numbering, and its plan is made once.
--
-- With a taken key, a duplicate content or an unregistered robot, nothing is written and no row is returned.
--
-- :namespace text   :robot text its name   :robot_id bigint the robot that the name means, or null: a robot that has
-- another name by now writes nothing
-- :key text or null   :content text   :hash bytea its SHA-256   :speaker text or null   :session text or null
-- :seq int or null   :source text or null   :type text or null   :importance real   :token_count int
-- :token_encoding text   :language text   :metadata jsonb   :time timestamptz or null = now
-- :embed_job text and :tag_job text ids of the jobs   :priority int of the jobs   :max_attempts int   :tag_model text
-- :embedding_model text as long as none is registered
-- :expiry timestamptz or null   :ttl bigint or null, seconds from now to the expiry
-- :scope bigint where the content must be unique: 0 in its namespace, -1 among its robot's, null: nowhere
--
-- Index: robots_namespace_name_key, nodes_namespace_key_key, nodes_duplicate_key
with node as (
    insert into htm.nodes (namespace, robot_id, key, content, content_hash, speaker, session, seq, source, type,
                           importance, token_count, token_encoding, language, metadata, created_at, duplicate_scope,
                           expires_at, ttl_seconds)
    select r.namespace, r.id, :key, :content, :hash, :speaker, :session, :seq, :source, :type, :importance,
           :token_count, :token_encoding, :language, :metadata, coalesce(:time, now()),
           case :scope when -1 then r.id else :scope end,
           coalesce(:expiry, now() + :ttl * interval '1 second'), :ttl
      from htm.robots r
     where r.namespace = :namespace and r.name = :robot and (:robot_id::bigint is null or r.id = :robot_id)
    on conflict do nothing -- by the key or by the content
    returning id, namespace, revision
), target as (
    -- Every model that is in use gets every node; the first one takes the id that the caller drew.
    select queue, label as model,
           case id when (select min(id) from htm.embedding_models where state <> 'retired' and queue is not null) then :embed_job
                   else apalis.generate_ulid() end as job
      from htm.embedding_models
     where state <> 'retired' and queue is not null
    union all
    select 'htm.embed', :embedding_model, :embed_job where not exists (select from htm.embedding_models where state <> 'retired')
    union all
    select 'htm.tag', :tag_model, :tag_job
), job as (
    insert into apalis.jobs (id, job_type, job, status, attempts, max_attempts, run_at, priority,
                             metadata, idempotency_key)
    select t.job, t.queue,
           convert_to(json_build_object('v', 1, 'node', n.id, 'revision', n.revision)::text, 'UTF8'),
           'Pending', 0, :max_attempts, now(), :priority,
           hstore(array['namespace', n.namespace, 'node', n.id::text, 'revision', n.revision::text]),
           concat_ws('/', n.id, n.revision, 0, t.model)
      from node n
     cross join target t
    on conflict (job_type, idempotency_key) do nothing
)
select id from node
