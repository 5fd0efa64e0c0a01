-- Deletes the jobs of locked nodes that are not done, running ones and dead letters included: the holder of a running one
-- then holds nothing, and writes nothing.
--
-- A job that is locked belongs to an ack, which waits for the node. It is passed over, because waiting for it would be
-- waiting for each other; the ack finds the node gone, and erase_jobs.sql deletes the job.
--
-- :namespaces text[], of each node   :nodes bigint[]
--
-- Index: jobs_htm_open_idx, jobs_pkey
delete from apalis.jobs
 where id = any (array(select j.id
                         from unnest(:namespaces::text[], :nodes::bigint[]) as gone(namespace, node)
                         join apalis.jobs j on j.job_type like 'htm.%' and j.status <> 'Done'
                                           and j.metadata -> 'namespace' = gone.namespace
                                           and j.metadata -> 'node' = gone.node::text
                          for update of j skip locked))
