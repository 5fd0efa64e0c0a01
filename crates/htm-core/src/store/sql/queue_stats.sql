-- The queues: jobs by state, holds, workers. A parked job is due when its time has come. Reads every job once: at a million, under a second.
--
-- :tag_model text the tagging model, until a worker reports one   :backfill int the priority of a backfill
--
-- Index: none for the jobs; idx_apalis_workers_worker_type
with known as (
    select queue, label as model from htm.embedding_models where queue is not null
    union all
    select 'htm.embed', null where not exists (select from htm.embedding_models where queue = 'htm.embed')
    union all
    select 'htm.tag', coalesce((select split_part(layers, ' ', 3) from apalis.workers
                                 where worker_type = 'htm.tag' order by last_seen desc limit 1), :tag_model::text)
    union all
    select 'htm.learn', null
), counted as (
    select job_type as queue,
           count(*) filter (where status = 'Pending') as pending,
           count(*) filter (where status = 'Pending' and run_at <= now()) as due,
           count(*) filter (where status = 'Pending' and run_at > now() and metadata ? 'parked') as parked,
           count(*) filter (where status = 'Running') as running,
           count(*) filter (where status = 'Done') as done,
           count(*) filter (where status = 'Killed') as dead,
           count(*) filter (where status in ('Pending', 'Running') and priority = :backfill) as backfill,
           min(run_at) filter (where status = 'Pending' and run_at <= now()) as oldest
      from apalis.jobs
     where job_type like 'htm.%'
     group by job_type
)
select queue, k.model,
       s.reason as paused, s.paused_at,
       coalesce(h.reason, p.reason) as held, greatest(h.until, p.retry_at, p.resume_at) as held_until,
       h.reason as refused,
       coalesce(c.due, 0) as due, coalesce(c.pending - c.due - c.parked, 0) as waiting,
       coalesce(c.parked, 0) as parked, coalesce(c.running, 0) as running, coalesce(c.done, 0) as done,
       coalesce(c.dead, 0) as dead, coalesce(c.backfill, 0) as backfill,
       (extract(epoch from now() - c.oldest) * 1000)::bigint as oldest_due_ms,
       (select count(*) from apalis.workers w join htm.worker_leases l on l.worker = w.id
         where w.worker_type = queue and w.last_seen >= now() - l.lease_ms * interval '1 millisecond') as workers
  from known k
  full join counted c using (queue)
  left join htm.paused_queues s using (queue)
  left join (select queue, reason, until from htm.held_queues where until > now()) h using (queue)
  left join htm.providers p on p.model = k.model and greatest(p.retry_at, p.resume_at) > now()
 order by queue
