-- Enqueues the jobs that live nodes lack, for every model in use and for tags, as remember.sql does. targets.sql is before it.
--
-- A node with an open job or a dead letter gets no other one. A running job may have read the node while it was
-- forgotten, but its ack locks the node and finds it live. If a done job has the key, the generation in the key is
-- raised. A job that another transaction enqueues at the same moment serves as well.
--
-- :namespace text   :nodes bigint[]   :max_attempts int   :priority int
--
-- Index: nodes_pk, completions_pk, jobs_htm_open_idx, idx_jobs_idempotency_key
insert into apalis.jobs (id, job_type, job, status, attempts, max_attempts, run_at, priority, metadata, idempotency_key)
select apalis.generate_ulid(), t.queue,
       convert_to(json_build_object('v', 1, 'node', n.id, 'revision', n.revision)::text, 'UTF8'),
       'Pending', 0, :max_attempts, now(), :priority,
       hstore(array['namespace', n.namespace, 'node', n.id::text, 'revision', n.revision::text]),
       concat_ws('/', n.id, n.revision, generation.free, t.model)
  from htm.nodes n
 cross join target t
 cross join lateral (select g as free from (select generate_series(0, 1000) as g) series -- made one by one
                      where not exists (select from apalis.jobs j
                                         where j.job_type = t.queue
                                           and j.idempotency_key = concat_ws('/', n.id, n.revision, g, t.model))
                      limit 1) generation
 where n.namespace = :namespace and n.id = any (:nodes) and n.deleted_at is null
   and not exists (select from htm.completions c
                    where c.namespace = n.namespace and c.node_id = n.id and c.revision = n.revision and c.stage = t.stage
                      and (t.done_by is null or c.model = t.done_by))
   and not exists (select from htm.visible_jobs j
                    where j.job_type like 'htm.%' and j.job_type = t.queue and j.status <> 'Done'
                      and j.metadata -> 'namespace' = n.namespace collate "default" -- the index's
                      and j.metadata -> 'node' = n.id::text
                      and j.metadata -> 'revision' = n.revision::text)
on conflict (job_type, idempotency_key) do nothing
