-- Deletes done jobs, the longest done first. Their completions stay.
--
-- :age_ms bigint since they were done, at least   :limit bigint how many at most
--
-- Index: jobs_htm_done_idx, jobs_pkey
delete from apalis.jobs
 where id = any (array(select id from apalis.jobs
                        where status = 'Done' and job_type like 'htm.%'
                          and done_at <= now() - :age_ms * interval '1 millisecond'
                        order by done_at
                        limit :limit
                          for update skip locked))
