-- Takes back the jobs of lost workers: those without a heartbeat since the caller's last look. The attempt stays
-- charged, and the job waits as after a failure. It is a suspect from now on (claim_jobs.sql): its text may have
-- crashed the worker.
--
-- A job without attempts left becomes a dead letter only if its worker held no other job, or after more losses than
-- chance explains. Otherwise it gets another attempt, because the job that crashed the worker is not known.
--
-- :workers text[]   :last_seen timestamptz[] when each was last seen
-- :base_ms bigint the longest wait after the first attempt   :cap_ms bigint the longest wait
--
-- Index: workers_pkey, idx_apalis_jobs_lock_by
with lost_worker as (
    select w.id
      from unnest(:workers::text[], :last_seen::timestamptz[]) as u(id, last_seen)
      join apalis.workers w on w.id = u.id and w.last_seen = u.last_seen
       for share of w skip locked -- one that renews its lease at this moment is not lost
), lost as (
    select j.id, j.lock_by, j.attempts, j.max_attempts, coalesce((j.metadata -> 'losses')::int, 0) + 1 as losses
      from apalis.jobs j
      join lost_worker w on w.id = j.lock_by
     where j.status = 'Running' and j.job_type like 'htm.%'
       for update of j skip locked
), judged as (
    select id, lock_by, losses, attempts >= max_attempts as used_up,
           attempts >= max_attempts
               and (losses >= max_attempts + 5
                    or not exists (select from apalis.jobs o
                                    where o.lock_by = lost.lock_by and o.status = 'Running' and o.id <> lost.id)) as dead,
           -- One jitter for all: what was lost together comes back together, and is claimed in few batches.
           least(:cap_ms, :base_ms * power(2, least(attempts - 1, 20))) * (select random()) * interval '1 millisecond' as wait
      from lost
)
update apalis.jobs j
   set status      = case when l.dead then 'Killed' else 'Pending' end,
       attempts    = case when l.used_up and not l.dead then j.attempts - 1 else j.attempts end,
       run_at      = case when l.dead then j.run_at else now() + l.wait end,
       done_at     = case when l.dead then now() end,
       last_result = jsonb_build_object('Err', 'the worker ' || l.lock_by || ' was lost while it held the job'),
       metadata    = j.metadata || hstore('losses', l.losses::text),
       lock_by     = null,
       lock_at     = null
  from judged l
 where j.id = l.id
returning j.id
