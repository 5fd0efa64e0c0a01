-- Live nodes with a completion of their embedding, but without a vector of their revision, an open job or a dead
-- letter. {{store}} is the table htm.embeddings_<id>.
--
-- :label text of the model   :queue text
--
-- Index: none, all nodes are read; jobs_htm_open_idx
select n.id as node, n.namespace, n.revision, 'embed' as stage, 'vector' as lost
  from htm.nodes n
 where n.deleted_at is null
   and exists (select from htm.completions c
                where c.node_id = n.id and c.namespace = n.namespace and c.revision = n.revision
                  and c.stage = 'embed' and c.model = :label)
   and not exists (select from {{store}} e
                    where e.node_id = n.id and e.namespace = n.namespace and e.revision = n.revision)
   and not exists (select from apalis.jobs j
                    where j.job_type like 'htm.%' and j.job_type = :queue and j.status <> 'Done'
                      and j.metadata -> 'namespace' = n.namespace collate "default" -- the index's
                      and j.metadata -> 'node' = n.id::text
                      and j.metadata -> 'revision' = n.revision::text)
 order by n.id
