-- Enqueues the jobs that nodes lack, as remember.sql does. Where a job of that key is still there (it is done, and yet
-- the node lacks its result), the generation in the key is raised.
--
-- :nodes bigint[]   :revisions int[] their revisions   :stages text[]
-- :embedding_model text embedding model, as long as none is registered   :tag_model text   :max_attempts int
--
-- Index: nodes_pk, idx_jobs_idempotency_key
with target as (
    select 'embed' as stage, queue, label as model from htm.embedding_models
     where state = 'active' and queue is not null
    union all
    select 'embed', 'htm.embed', :embedding_model::text where not exists (select from htm.embedding_models where state = 'active')
    union all
    select 'tag', 'htm.tag', :tag_model::text
)
insert into apalis.jobs (id, job_type, job, status, attempts, max_attempts, run_at, priority, metadata, idempotency_key)
select apalis.generate_ulid(), t.queue,
       convert_to(json_build_object('v', 1, 'node', n.id, 'revision', n.revision)::text, 'UTF8'),
       'Pending', 0, :max_attempts, now(), 0,
       hstore(array['namespace', n.namespace, 'node', n.id::text, 'revision', n.revision::text]),
       concat_ws('/', n.id, n.revision, generation.free, t.model)
  from unnest(:nodes::bigint[], :revisions::int[], :stages::text[]) as lacking(node, revision, stage)
  join htm.nodes n on n.id = lacking.node and n.revision = lacking.revision and n.deleted_at is null
  join target t on t.stage = lacking.stage
 cross join lateral (select g as free from (select generate_series(0, 1000) as g) series -- made one by one
                      where not exists (select from apalis.jobs j
                                         where j.job_type = t.queue
                                           and j.idempotency_key = concat_ws('/', n.id, n.revision, g, t.model))
                      limit 1) generation
on conflict (job_type, idempotency_key) do nothing
