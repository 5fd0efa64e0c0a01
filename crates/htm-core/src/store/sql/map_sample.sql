-- A sample of the nodes that pass a filter and have a vector of the model, by id. The order of the hash of an id is as good
-- as chance, and the same each time.
--
-- :limit bigint   conditions on the node m
--
-- Index: as the filters have them, else nodes_namespace_created_at_idx; embeddings_<id>_pk; node_tags_pk
with sample as materialized (
    select m.id, m.namespace
      from htm.visible_nodes m
     where {{conditions}}
       and exists (select from {{store}} e where e.node_id = m.id and e.namespace = m.namespace)
     order by hashint8extended(m.id, 0)
     limit :limit
)
select s.id, e.embedding,
       case when length(n.content) > 160 then left(n.content, 160) || '…' else n.content end as excerpt, r.name as robot, n.created_at,
       array(select distinct split_part(t.path, ':', 1)
               from htm.node_tags a join htm.tags t on t.id = a.tag_id
              where a.node_id = s.id and a.namespace = s.namespace
              order by 1) as topics
  from sample s
  join htm.nodes n on n.id = s.id and n.namespace = s.namespace
  join {{store}} e on e.node_id = s.id and e.namespace = s.namespace
  join htm.robots r on r.id = n.robot_id
 order by s.id
