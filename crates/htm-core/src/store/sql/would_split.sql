-- The number of jobs that split_tag.sql would enqueue.
--
-- :namespace text   :tag text
--
-- Index: tags_namespace_path_key, node_tags_tag_idx, nodes_pk, jobs_htm_open_idx
select count(*)
  from htm.tags t
  join htm.node_tags a on a.tag_id = t.id and a.namespace = :namespace
  join htm.nodes n on n.id = a.node_id and n.namespace = a.namespace
 where t.namespace = :namespace and t.path = :tag and n.deleted_at is null
   and not exists (select from htm.visible_jobs j
                    where j.job_type like 'htm.%' and j.job_type || '' = 'htm.tag' and j.status = 'Pending'
                      and j.metadata -> 'namespace' = n.namespace collate "default" -- the index's
                      and j.metadata -> 'node' = n.id::text
                      and j.metadata -> 'revision' = n.revision::text
                      and (coalesce(split_part(j.idempotency_key, '/', 3), '') not like 'split-%'
                           or split_part(j.idempotency_key, '/', 3) in (select 'split-' || c.id from htm.tag_changes c
                                                                         where c.namespace = :namespace and c.kind = 'split'
                                                                           and c.details ->> 'tag' = :tag)))
