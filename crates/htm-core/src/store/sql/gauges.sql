-- The jobs of a queue by state, and the time since which the oldest due job has been due.
--
-- Each count stops at a bound (due and waiting: a bound for each priority), so that a backlog of millions costs no more
-- than one of the bound. A parked job does not wait; it is due when its time has come, as the day after its budget
-- was spent. Waiting jobs come before parked ones; those beyond the bound are not read.
--
-- :queue text   :bound bigint where a count stops   :priorities int[]
--
-- Index: idx_apalis_jobs_fetch_partial, jobs_htm_parked_idx, idx_apalis_jobs_lock_by, jobs_htm_dead_idx
with pending as (
    select due.jobs as due, due.since, waiting.jobs as waiting
      from unnest(:priorities::int[]) as p(priority)
     cross join lateral (
        select count(*) as jobs, min(run_at) as since
          from (select run_at from apalis.jobs
                 where job_type = :queue and status = 'Pending' and priority = p.priority and run_at <= now()
                 order by run_at limit :bound) bounded) due
     cross join lateral (
        select count(*) filter (where not parked) as jobs
          from (select (metadata ? 'parked') is true as parked from apalis.jobs
                 where job_type = :queue and status = 'Pending' and priority = p.priority and run_at > now()
                 order by run_at limit :bound) bounded) waiting
)
select coalesce(sum(due), 0)::bigint as due,
       coalesce(sum(waiting), 0)::bigint as waiting,
       (select count(*) from (select from apalis.jobs
                               where job_type = :queue and status = 'Pending' and metadata ? 'parked' and run_at > now()
                               limit :bound) bounded) as parked,
       (select count(*) from (select from apalis.jobs
                               where job_type = :queue and status = 'Running' and lock_by is not null
                               limit :bound) bounded) as running,
       (select count(*) from (select from apalis.jobs
                               where job_type = :queue and status in ('Killed', 'Failed')
                               limit :bound) bounded) as dead,
       coalesce(extract(epoch from now() - min(since)), 0)::float8 as oldest_due_age_seconds
  from pending
