-- The live nodes that share rare tags with a node. A tag weighs the more, the fewer nodes have it; those that share the
-- most come first.
--
-- :node bigint   :namespace text, its own   :rare bigint the most nodes of a rare tag   :limit bigint
--
-- Index: node_tags_pk, node_tags_tag_idx, nodes_pk
with own as (
    select t.id, t.path, c.nodes
      from htm.node_tags a
      join htm.tags t on t.id = a.tag_id
     cross join lateral (
           select count(*) as nodes
             from (select from htm.node_tags o
                    where o.tag_id = t.id limit :rare + 1) counted) c
     where a.node_id = :node and a.namespace = :namespace and c.nodes <= :rare
), shared as (
    select b.node_id, b.namespace, array_agg(o.path order by o.nodes, o.path) as tags, sum(1.0 / o.nodes) as weight
      from own o
      join htm.node_tags b on b.tag_id = o.id and b.namespace = :namespace and b.node_id <> :node
     group by b.node_id, b.namespace
)
select 'shared_tags' as by, n.id as node, r.name as robot, n.created_at, left(n.content, 100) as excerpt,
       null::text as reason, null::text as made_by, null::timestamptz as made_at, s.tags
  from shared s
  join htm.nodes n on n.id = s.node_id and n.namespace = s.namespace and n.deleted_at is null
  join htm.robots r on r.id = n.robot_id
 order by s.weight desc, n.created_at desc, n.id desc
 limit :limit
