-- The vector leg among the nodes that pass the filters, when these are few enough to be compared each; else nothing is
-- compared. "+ 0" keeps the planner from the index of vectors; with an array of ids it reads the store in its order.
--
-- :vector halfvec   :few int   :pool int candidates   conditions on the node m
--
-- Index: as the filters have them: nodes_robot_idx, nodes_session_idx, nodes_metadata_idx, node_tags_tag_idx; embeddings_<id>_pk
with passing as materialized (
    select array_agg(id) as ids, count(*) <= :few as are_few
      from (select m.id from htm.visible_nodes m where {{conditions}} limit :few + 1) m
)
select p.are_few, near.node_id, 1 - near.distance as similarity
  from passing p
  left join lateral (
       select e.node_id, (e.embedding <=> :vector) + 0 as distance
         from {{store}} e
        where p.are_few and e.node_id = any (p.ids){{of_e}}
        order by distance, e.node_id desc
        limit :pool) near on true
