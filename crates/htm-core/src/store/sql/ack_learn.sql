-- Ends a job that learns, if the worker still holds it. The job's row is locked until the ranking is written too.
--
-- :worker text   :claimed_at timestamptz, lock_at of the claim   :job text
--
-- Index: jobs_pkey
update apalis.jobs
   set status = 'Done', done_at = now(), lock_by = null, lock_at = null, last_result = '{"Ok": "learnt"}'
 where id = :job and status = 'Running' and lock_by || '' = :worker and lock_at = :claimed_at
