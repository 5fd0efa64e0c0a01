-- The number of nodes with a vector of the active model and none of another one. A node with a live job of the last
-- minute for the other model does not count: it was just written.
--
-- {{active}} and {{target}} are the stores of both, htm.embeddings_<id>.
--
-- :queue text the other one's queue   :priority int the priority of a backfill
--
-- Index: nodes_pk, embeddings_<id>_pk, jobs_htm_open_idx
select count(*)
  from {{active}} a
  join htm.nodes n on n.id = a.node_id and n.namespace = a.namespace and n.revision = a.revision
 where n.deleted_at is null
   and not exists (select from {{target}} t
                    where t.node_id = n.id and t.namespace = n.namespace and t.revision = n.revision)
   and not exists (select from apalis.jobs j
                    where j.job_type like 'htm.%' and j.job_type = :queue and j.status <> 'Done'
                      and j.status in ('Pending', 'Running') and j.priority > :priority and not j.metadata ? 'parked'
                      and j.run_at > now() - interval '60 seconds'
                      and j.metadata -> 'namespace' = n.namespace collate "default" -- the index's
                      and j.metadata -> 'node' = n.id::text
                      and j.metadata -> 'revision' = n.revision::text)
