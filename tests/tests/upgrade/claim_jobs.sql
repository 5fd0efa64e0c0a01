-- Claims up to $3 jobs of a queue that are due, for a worker; each claim charges an attempt.
--
-- $1 text queue   $2 text worker's identity, registered in apalis.workers   $3 bigint how many
--
-- Index: idx_apalis_jobs_fetch_partial
with due as (
    select id
      from apalis.jobs
     where job_type = $1 and status = 'Pending' and run_at <= now()
     order by priority desc, run_at
     limit $3
       for update skip locked
)
update apalis.jobs j
   set status = 'Running', lock_by = $2, lock_at = now(), attempts = j.attempts + 1, done_at = null
  from due
 where j.id = due.id
returning j.id, j.job as payload, j.attempts as attempt, j.max_attempts, j.lock_at as claimed_at
