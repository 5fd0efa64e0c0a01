-- Claims up to $3 jobs of a queue that are due, for a worker; each claim charges an attempt. Nothing while the queue
-- is paused, the database refuses its results, or the model's provider asked for a pause: then no attempt is worth
-- making.
--
-- The commit does not wait for the disk: of a claim that a crash of the server loses, the jobs are due again, and the
-- ack of whoever thinks that it holds them finds no row.
--
-- $1 text queue   $2 text worker's identity, registered in apalis.workers   $3 bigint how many   $4 text model
-- $5 int the lowest priority that is wanted
--
-- Index: idx_apalis_jobs_fetch_partial, jobs_pkey, paused_queues_pk, held_queues_pk, providers_pk
with due as (
    select id
      from apalis.jobs
     where job_type = $1 and status = 'Pending' and run_at <= now() and priority >= $5
       and attempts < max_attempts -- else the claim of all would break the constraint
       and (select set_config('synchronous_commit', 'off', true)) = 'off' -- for this transaction
       and not exists (select from htm.paused_queues where queue = $1)
       and not exists (select from htm.held_queues where queue = $1 and until > now())
       and not exists (select from htm.providers where model = $4 and (retry_at > now() or resume_at > now()))
     order by priority desc, run_at
     limit case when exists (select from htm.providers where model = $4 and breaker <> 'closed')
                then 1 else $3 end -- a trial risks one job's attempt
       for update skip locked
)
update apalis.jobs j
   set status = 'Running', lock_by = $2, lock_at = now(), attempts = j.attempts + 1, done_at = null,
       metadata = case when j.metadata ? 'parked' then delete(j.metadata, 'parked') else j.metadata end
 -- No join: how many are due cannot be estimated, and the plan would read the whole table to join them.
 where j.id = any (array(select id from due))
returning j.id, j.job as payload, j.attempts as attempt, j.max_attempts, j.priority, j.lock_at as claimed_at
