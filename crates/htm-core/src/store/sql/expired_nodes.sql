-- Locks expired nodes, the first expired first. Locked ones are left out.
--
-- :limit bigint
--
-- Index: nodes_expires_at_idx
select n.id, n.namespace, r.name as robot, n.revision, octet_length(n.content) as bytes, null::text as other
  from htm.nodes n
  join htm.robots r on r.id = n.robot_id
 where n.expires_at <= now() and n.deleted_at is null
 order by n.expires_at
 limit :limit
   for update of n skip locked
