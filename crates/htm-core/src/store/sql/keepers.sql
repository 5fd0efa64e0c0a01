-- The robots that remembered or repeated a node, or hold it in working memory, by name. No row: no such live node.
--
-- :node bigint   :seen text[] the namespaces whose robots are named, with `a/*` for those below `a`, or null for all
--
-- Index: nodes_pk, repeats_pk, working_memory_node_idx, robots_pk
with node as materialized (
    select id, namespace, robot_id from htm.nodes where id = :node and deleted_at is null
), keeper as (
    select robot_id from node
    union
    select p.robot_id from node n join htm.repeats p on p.node_id = n.id and p.namespace = n.namespace
    union
    select w.robot_id from node n join htm.working_memory w on w.node_id = n.id and w.namespace = n.namespace
)
select r.namespace, r.name as robot, n.robot_id = r.id as made,
       (n.robot_id = r.id)::int + coalesce(p.count, 0) as remember_count,
       p.first_at as first_repeat, p.last_at as last_repeat,
       exists (select from htm.working_memory w
                where w.node_id = n.id and w.namespace = n.namespace and w.robot_id = r.id) as in_working_memory
  from keeper k
  join htm.robots r on r.id = k.robot_id
 cross join node n
  left join htm.repeats p on p.node_id = n.id and p.namespace = n.namespace and p.robot_id = r.id
 where :seen::text[] is null or htm.is_within(r.namespace, :seen)
 order by r.namespace, r.name
