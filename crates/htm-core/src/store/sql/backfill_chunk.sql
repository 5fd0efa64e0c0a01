-- Enqueues the jobs that the nodes of a chunk lack, as remember.sql does, behind every live job.
--
-- A plain run skips nodes that are done, have an open job, or are dead letters. A forced run skips only nodes with an open
-- job, which tags or embeds them anyway; a split's job, which replaces one tag, does not count. With :version, nodes that
-- are not done are skipped too. The run's number in the key tells its jobs from ended ones.
--
-- :stage text   :queue text   :model text   :run bigint   :forced boolean   :after bigint node, exclusive
-- :up_to bigint node, inclusive   :limit bigint nodes   :namespace text or null   :since timestamptz or null
-- :max_attempts int   :priority int   :count_only boolean
-- :version text or null: only what another version, or another model, has done
--
-- Index: nodes_pk, completions_pk, jobs_htm_open_idx, idx_jobs_idempotency_key
with chunk as materialized (
    select n.id, n.namespace, n.revision
      from htm.nodes n
     where n.id > :after and n.id <= :up_to and n.deleted_at is null
       and (:namespace::text is null or n.namespace = :namespace)
       and (:since::timestamptz is null or n.created_at >= :since)
     order by n.id
     limit :limit
), wanted as materialized (
    -- Looked up node by node ("limit 1"), by the node and not by the queue ("|| ''"): whatever the statistics say, which
    -- are old when much was written a moment ago.
    select c.*
      from chunk c
      left join lateral (select true as found
                           from htm.completions d
                          where not :forced and d.node_id = c.id and d.namespace = c.namespace
                            and d.revision = c.revision and d.stage = :stage and d.model = :model
                          limit 1) done on true
      left join lateral (select true as found
                           from apalis.jobs j
                          where j.job_type like 'htm.%' and j.job_type || '' = :queue and j.status <> 'Done'
                            and (not :forced or j.status <> 'Killed'
                                                and coalesce(split_part(j.idempotency_key, '/', 3), '') not like 'split-%')
                            and j.metadata -> 'namespace' = c.namespace collate "default" -- the index's
                            and j.metadata -> 'node' = c.id::text
                            and j.metadata -> 'revision' = c.revision::text
                          limit 1) open on true
      left join lateral (select bool_or(coalesce(d.model = :model and d.version = :version, false)) as is_this
                           from htm.completions d
                          where :version::text is not null
                            and d.node_id = c.id and d.namespace = c.namespace and d.revision = c.revision
                            and d.stage = :stage) version on true
     where done.found is null and open.found is null and (:version::text is null or not version.is_this)
), job as (
    insert into apalis.jobs (id, job_type, job, status, attempts, max_attempts, run_at, priority,
                             metadata, idempotency_key)
    select apalis.generate_ulid(), :queue,
           convert_to(json_build_object('v', 1, 'node', w.id, 'revision', w.revision)::text, 'UTF8'),
           'Pending', 0, :max_attempts, now(), :priority,
           hstore(array['namespace', w.namespace, 'node', w.id::text, 'revision', w.revision::text]),
           concat_ws('/', w.id, w.revision,
                     case when :forced or ended.found then 'run-' || :run else '0' end, :model)
      from wanted w
      left join lateral (select true as found
                           from apalis.jobs e
                          where e.job_type = :queue
                            and e.idempotency_key = concat_ws('/', w.id, w.revision, 0, :model)
                          limit 1) ended on true
     where not :count_only
    on conflict (job_type, idempotency_key) do nothing
    returning 1
)
select (select max(id) from chunk) as last, (select count(*) from chunk) as nodes,
       (select count(*) from wanted) as wanted, (select count(*) from job) as enqueued
