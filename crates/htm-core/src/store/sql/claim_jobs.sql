-- Claims up to :limit jobs of a queue that are due, for a worker; each claim charges an attempt. Nothing while the queue
-- is paused, the database refuses its results, or the model's provider asked for a pause: then no attempt is worth
-- making.
--
-- Jobs of a higher priority come first, then those that have been due for longest. Each priority is looked up on its
-- own: the index is entered at `since` and left at now(), so that it reads neither jobs that are due later, nor
-- entries of jobs claimed before `since` that a long transaction keeps from being cleaned up.
--
-- A suspect is a job that a worker held when it was lost. Suspects are never claimed together with other jobs. After
-- the first loss an eighth of a batch is claimed, then one job at a time: this isolates the text that crashes workers.
--
-- The commit does not wait for the disk. If a crash loses a claim, its jobs are due again, and a stale ack matches no
-- row.
--
-- :queue text   :worker text, registered in apalis.workers   :limit int   :model text or null: no provider is called
-- :priorities int[], the highest first   :since timestamptz[] or null: since when to look at each
-- :with_suspects boolean suspects may be claimed
--
-- Index: idx_apalis_jobs_fetch_partial, jobs_pkey, paused_queues_pk, held_queues_pk, providers_pk
with room as materialized (
    select case when exists (select from htm.providers where model = :model and breaker <> 'closed')
                then 1 else :limit::int end as jobs -- a trial risks one job's attempt
), due as materialized (
    select j.id, j.losses
      from unnest(:priorities::int[], :since::timestamptz[]) as p(priority, since)
     cross join lateral (
        select id, least(coalesce((metadata -> 'losses')::int, 0), 2) as losses
          from apalis.jobs
         where job_type = :queue and status = 'Pending' and priority = p.priority
           and run_at >= coalesce(p.since, '-infinity') and run_at <= now()
           and attempts < max_attempts -- else the claim of all would break the constraint
           and (:with_suspects::boolean or (metadata ? 'losses') is not true)
         order by run_at
         limit (select jobs from room)
           for update skip locked) j
     where (select set_config('synchronous_commit', 'off', true)) = 'off' -- for this transaction
       and not exists (select from htm.paused_queues where queue = :queue)
       and not exists (select from htm.held_queues where queue = :queue and until > now())
       and not exists (select from htm.providers where model = :model and (retry_at > now() or resume_at > now()))
     limit (select jobs from room)
), chosen as (
    select id
      from (select id, losses, row_number() over (partition by losses) as place from due) alike
     where losses = (select losses from due limit 1)
       and place <= case losses when 0 then :limit when 1 then greatest(:limit / 8, 1) else 1 end
)
update apalis.jobs j
   set status = 'Running', lock_by = :worker, lock_at = now(), attempts = j.attempts + 1, done_at = null,
       metadata = case when j.metadata ? 'parked' then delete(j.metadata, 'parked') else j.metadata end
 -- No join: how many are due cannot be estimated, and the plan would read the whole table to join them.
 where j.id = any (array(select id from chosen))
returning j.id, coalesce(j.metadata -> 'namespace', '') as namespace, j.job as payload, j.attempts as attempt, j.max_attempts, j.priority, j.lock_at as claimed_at,
          (j.metadata ? 'losses') is true as suspect, j.run_at,
          (select count(*) from due) >= (select jobs from room) as more
