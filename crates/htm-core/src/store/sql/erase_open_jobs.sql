-- Deletes the open jobs of locked nodes, running ones and dead letters included. The ack of a running job then matches no
-- row.
--
-- A locked job belongs to an ack, which waits for the node. It is skipped to avoid a deadlock: the ack finds no node, and
-- erase_jobs.sql deletes the job.
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
