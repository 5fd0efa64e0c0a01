-- Takes back the jobs of workers that are lost: those still last seen when the caller saw them last. The attempt stays
-- charged.
--
-- $1 text[] workers   $2 timestamptz[] when each was last seen
--
-- Index: workers_pkey, idx_apalis_jobs_lock_by
with lost_worker as (
    select w.id
      from unnest($1::text[], $2::timestamptz[]) as u(id, last_seen)
      join apalis.workers w on w.id = u.id and w.last_seen = u.last_seen
       for share of w skip locked -- one that renews its lease at this moment is not lost
), lost as (
    select j.id
      from apalis.jobs j
      join lost_worker w on w.id = j.lock_by
     where j.status = 'Running' and j.job_type like 'htm.%'
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
