-- Locks the nodes of a namespace that happened, were remembered and were last restored before a time, after a place.
-- Locked ones are left out.
--
-- :namespace text   :before timestamptz   :limit bigint
-- :time timestamptz, :node bigint: when the last node of the part before happened, and its id; null: the first part
--
-- Index: nodes_namespace_created_at_idx
select n.id, n.namespace, r.name as robot, n.revision, octet_length(n.content) as bytes, null::text as other, n.created_at
  from htm.nodes n
  join htm.robots r on r.id = n.robot_id
 where n.namespace = :namespace and n.created_at < :before and n.remembered_at < :before and n.deleted_at is null
   and not exists (select from htm.node_absences a
                    where a.node_id = n.id and a.namespace = n.namespace and a.restored_at >= :before)
   and n.created_at >= coalesce(:time::timestamptz, '-infinity')
   and (n.created_at, n.id) > (coalesce(:time::timestamptz, '-infinity'), coalesce(:node::bigint, 0))
 order by n.created_at, n.id
 limit :limit
   for update of n skip locked
