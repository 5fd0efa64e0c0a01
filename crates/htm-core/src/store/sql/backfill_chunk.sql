-- Enqueues the jobs that the nodes of a chunk lack, as remember.sql does, behind every live job.
--
-- A plain run leaves out nodes that are done, that have an open job, and dead letters; a forced one only those whose
-- job is open: that will make them again anyway; of a version, it leaves out what is not done at all as well. A key that an ended job still has is told apart by the run's number.
--
-- $1 text stage                    $2 text queue                          $3 text model
-- $4 bigint the run                $5 boolean forced                      $6 bigint after this node
-- $7 bigint up to this node        $8 bigint how many nodes               $9 text namespace or null
-- $10 timestamptz since, or null   $11 int max attempts                   $12 int priority
-- $13 boolean count only           $14 text version or null: only what another version, or another model, has done
--
-- Index: nodes_pk, completions_pk, jobs_htm_open_idx, idx_jobs_idempotency_key
with chunk as materialized (
    select n.id, n.namespace, n.revision
      from htm.nodes n
     where n.id > $6 and n.id <= $7 and n.deleted_at is null
       and ($9::text is null or n.namespace = $9)
       and ($10::timestamptz is null or n.created_at >= $10)
     order by n.id
     limit $8
), wanted as materialized (
    -- Looked up node by node ("limit 1"), by the node and not by the queue ("|| ''"): whatever the statistics say, which
    -- are old when much was written a moment ago.
    select c.*
      from chunk c
      left join lateral (select true as found
                           from htm.completions d
                          where not $5 and d.node_id = c.id and d.revision = c.revision and d.stage = $1 and d.model = $3
                          limit 1) done on true
      left join lateral (select true as found
                           from apalis.jobs j
                          where j.job_type like 'htm.%' and j.job_type || '' = $2 and j.status <> 'Done'
                            and (not $5 or j.status <> 'Killed')
                            and j.metadata -> 'namespace' = c.namespace collate "default" -- the index's
                            and j.metadata -> 'node' = c.id::text
                            and j.metadata -> 'revision' = c.revision::text
                          limit 1) open on true
     where done.found is null and open.found is null
       and ($14::text is null
            or (exists (select from htm.completions d
                         where d.node_id = c.id and d.revision = c.revision and d.stage = $1)
                and not exists (select from htm.completions d
                                 where d.node_id = c.id and d.revision = c.revision and d.stage = $1
                                   and d.model = $3 and d.version = $14)))
), job as (
    insert into apalis.jobs (id, job_type, job, status, attempts, max_attempts, run_at, priority,
                             metadata, idempotency_key)
    select apalis.generate_ulid(), $2,
           convert_to(json_build_object('v', 1, 'node', w.id, 'revision', w.revision)::text, 'UTF8'),
           'Pending', 0, $11, now(), $12,
           hstore(array['namespace', w.namespace, 'node', w.id::text, 'revision', w.revision::text]),
           concat_ws('/', w.id, w.revision,
                     case when $5 or exists (select from apalis.jobs e
                                              where e.job_type = $2
                                                and e.idempotency_key = concat_ws('/', w.id, w.revision, 0, $3))
                          then $4 else 0 end, $3)
      from wanted w
     where not $13
    on conflict (job_type, idempotency_key) do nothing
    returning 1
)
select (select max(id) from chunk) as last, (select count(*) from chunk) as nodes,
       (select count(*) from wanted) as wanted, (select count(*) from job) as enqueued
