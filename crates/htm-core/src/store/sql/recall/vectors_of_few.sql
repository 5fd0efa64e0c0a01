-- The vector leg among the nodes that pass the filters, when these are few enough to be compared each; else null, and nothing
-- is compared.
--
-- :vector halfvec   :few int   :pool int candidates   conditions on the node m
--
-- Index: as the filters have them: nodes_robot_idx, nodes_session_idx, nodes_metadata_idx, node_tags_tag_idx; embeddings_<id>_pk
with passing as materialized (
    select m.id from htm.nodes m where {{conditions}} limit :few + 1
),
leg as (
    select p.id, e.embedding <=> :vector as distance
      from passing p
     cross join lateral (select s.embedding from {{store}} s where s.node_id = p.id offset 0) e
     where (select count(*) from passing) <= :few
     order by distance, p.id desc
     limit :pool
)
select (select count(*) from passing) <= :few as are_few,
       array(select id from leg order by distance, id desc) as ids,
       array(select 1 - distance from leg order by distance, id desc) as similarities
