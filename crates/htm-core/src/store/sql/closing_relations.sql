-- The nodes that supersede a node and are superseded by another one, directly or through others, or are that one: the last
-- links of all chains between the two. Each with the robot that remembered it. Forgotten nodes count: they may be restored.
--
-- :from bigint the last of the chains   :to bigint the first   :namespace text, theirs
--
-- Index: relations_pk, nodes_pk
-- Each node is visited once: there may be many more chains than nodes.
with recursive reached as (
    select :to::bigint as node
     union
    select r.to_node
      from reached v
      join htm.relations r on r.from_node = v.node and r.kind = 'supersedes' and r.namespace = :namespace
)
select n.id, n.namespace, o.name as robot
  from reached v
  join htm.relations r
    on r.from_node = v.node and r.to_node = :from and r.kind = 'supersedes' and r.namespace = :namespace
  join htm.nodes n on n.namespace = r.namespace and n.id = r.from_node
  join htm.robots o on o.id = n.robot_id
 order by n.id
