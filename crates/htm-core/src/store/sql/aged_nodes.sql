-- Locks the nodes of a namespace that happened and were remembered before a time. Locked ones are left out.
--
-- :namespace text   :before timestamptz   :limit bigint
--
-- Index: nodes_namespace_created_at_idx
select n.id, n.namespace, r.name as robot, n.revision, null::text as other
  from htm.nodes n
  join htm.robots r on r.id = n.robot_id
 where n.namespace = :namespace and n.created_at < :before and n.remembered_at < :before and n.deleted_at is null
 order by n.created_at
 limit :limit
   for update of n skip locked
