-- Takes back the jobs of workers that have not been seen for their lease; the attempt stays charged.
--
-- Index: idx_apalis_jobs_lock_by
with lost as (
    select j.id
      from apalis.jobs j
      join apalis.workers w on w.id = j.lock_by
      join htm.worker_leases l on l.worker = w.id
     where j.status = 'Running' and j.job_type like 'htm.%'
       and w.last_seen < now() - l.lease_ms * interval '1 millisecond'
     for update of j skip locked
)
update apalis.jobs j
   set status      = case when j.attempts >= j.max_attempts then 'Killed' else 'Pending' end,
       done_at     = case when j.attempts >= j.max_attempts then now() end,
       last_result = jsonb_build_object('Err', 'the worker ' || j.lock_by || ' was lost while it held the job'),
       lock_by     = null,
       lock_at     = null
  from lost
 where j.id = lost.id
returning j.id
