-- The live nodes that a node has a relation with, the last set first.
--
-- :node bigint   :namespace text, its own   :by text only those that are related so, or null   :limit bigint
--
-- Index: relations_pk, relations_to_node_idx, nodes_pk
with relation as (
    select r.namespace, r.kind as by, r.to_node as node, r.reason, r.robot,
           r.made_at
      from htm.relations r
     where r.from_node = :node and r.namespace = :namespace
    union all
    select r.namespace, case r.kind when 'supersedes' then 'superseded_by' else r.kind end, r.from_node, r.reason, r.robot, r.made_at
      from htm.relations r
     where r.to_node = :node and r.namespace = :namespace
)
select x.by, n.id as node, o.name as robot, n.created_at, left(n.content, 100) as excerpt, x.reason,
       x.robot as made_by, x.made_at, '{}'::text[] as tags
  from relation x
  join htm.nodes n on n.namespace = x.namespace and n.id = x.node and n.deleted_at is null
  join htm.robots o on o.id = n.robot_id
 where :by::text is null or x.by = :by
 order by x.made_at desc, n.id desc
 limit :limit
