-- The outcomes of the jobs that ended in the last minutes, a row for each queue and minute with any. The times leave out
-- superseded jobs: an edit ends them, perhaps before they are due.
--
-- :minutes int
--
-- Index: jobs_htm_done_idx; jobs_htm_dead_idx
select job_type as queue, date_trunc('minute', done_at) as minute,
       count(*) filter (where status = 'Done') as done, count(*) filter (where status <> 'Done') as dead,
       (percentile_cont(0.5) within group (order by extract(epoch from done_at - run_at))
           filter (where status = 'Done' and not superseded) * 1000)::float8 as median_ms,
       (percentile_cont(0.95) within group (order by extract(epoch from done_at - run_at))
           filter (where status = 'Done' and not superseded) * 1000)::float8 as p95_ms
  from (select job_type, done_at, run_at, status, coalesce(last_result ->> 'Ok' = 'superseded', false) as superseded
          from apalis.jobs
         where status = 'Done' and job_type like 'htm.%' and done_at >= now() - :minutes * interval '1 minute'
         union all
        select job_type, done_at, run_at, status, false from apalis.jobs
         where status in ('Killed', 'Failed') and job_type like 'htm.%'
           and done_at >= now() - :minutes * interval '1 minute') ended
 group by 1, 2
 order by 1, 2
