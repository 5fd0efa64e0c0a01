-- Releases jobs that are claimed in a worker's name without the worker knowing: the claim was committed, but its answer
-- was lost with the connection. The attempt is not charged. Jobs are locked in the order of their ids,
-- as acks lock them.
--
-- :worker text   :held text[] ids that it holds
--
-- Index: idx_apalis_jobs_lock_by, jobs_pkey
update apalis.jobs
   set status = 'Pending', attempts = greatest(attempts - 1, 0), lock_by = null, lock_at = null
 where id = any (array(select id from apalis.jobs
                        where lock_by = :worker and status = 'Running' and id <> all (:held::text[])
                        order by id
                          for update))
returning id
