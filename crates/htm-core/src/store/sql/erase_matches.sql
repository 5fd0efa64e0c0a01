-- The first nodes that an erasure selects, forgotten ones included, with the beginning of each text.
-- {{selected}} is the condition on the node `n`.
--
-- :limit bigint
--
-- Index: nodes_pk, nodes_namespace_created_at_idx, robots_pk
select n.id as node, n.revision, r.name as robot, n.created_at, left(n.content, 100) as excerpt
  from htm.nodes n join htm.robots r on r.id = n.robot_id
 where {{selected}}
 order by n.id
 limit :limit
