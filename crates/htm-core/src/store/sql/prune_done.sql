-- Deletes done jobs, the longest done first. What they did stays: the completions.
--
-- $1 bigint how long ago they were done at least, ms   $2 bigint how many at most
--
-- Index: jobs_htm_done_idx, jobs_pkey
delete from apalis.jobs
 where id = any (array(select id from apalis.jobs
                        where status = 'Done' and job_type like 'htm.%'
                          and done_at <= now() - $1 * interval '1 millisecond'
                        order by done_at
                        limit $2
                          for update skip locked))
