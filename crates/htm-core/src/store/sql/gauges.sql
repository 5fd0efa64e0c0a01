-- What stands in a queue: jobs by state, and since when the longest due has been due.
--
-- Each count stops at a bound (due and waiting: a bound for each priority in use), so that a backlog of millions
-- costs no more than one of the bound. A parked job is neither due nor waiting.
--
-- $1 text queue   $2 bigint where a count stops
--
-- Index: idx_apalis_jobs_fetch_partial, jobs_htm_parked_idx, idx_apalis_jobs_lock_by, jobs_htm_dead_idx
with recursive priorities as (
    (select priority from apalis.jobs
      where job_type = $1 and status = 'Pending' and priority is not null
      order by priority desc limit 1)
    union all
    -- From one priority to the next by the index, not over the jobs between.
    select (select j.priority from apalis.jobs j
             where j.job_type = $1 and j.status = 'Pending' and j.priority < p.priority
             order by j.priority desc limit 1)
      from priorities p where p.priority is not null
), pending as (
    select due.jobs as due, due.since, waiting.jobs as waiting
      from priorities p
     cross join lateral (
        select count(*) as jobs, min(run_at) as since
          from (select run_at from apalis.jobs
                 where job_type = $1 and status = 'Pending' and priority = p.priority and run_at <= now()
                   and (metadata ? 'parked') is not true
                 order by run_at limit $2) bounded) due
     cross join lateral (
        select count(*) as jobs
          from (select from apalis.jobs
                 where job_type = $1 and status = 'Pending' and priority = p.priority and run_at > now()
                   and (metadata ? 'parked') is not true
                 order by run_at limit $2) bounded) waiting
     where p.priority is not null
)
select coalesce(sum(due), 0)::bigint as due,
       coalesce(sum(waiting), 0)::bigint as waiting,
       (select count(*) from (select from apalis.jobs
                               where job_type = $1 and status = 'Pending' and metadata ? 'parked'
                               limit $2) bounded) as parked,
       (select count(*) from (select from apalis.jobs
                               where job_type = $1 and status = 'Running' and lock_by is not null
                               limit $2) bounded) as running,
       (select count(*) from (select from apalis.jobs
                               where job_type = $1 and status in ('Killed', 'Failed')
                               limit $2) bounded) as dead,
       coalesce(extract(epoch from now() - min(since)), 0)::float8 as oldest_due_age_seconds
  from pending
