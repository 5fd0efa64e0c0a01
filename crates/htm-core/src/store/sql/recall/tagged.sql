-- The leg of the preferred tags: the nodes with any of them, the nearest to the query first, if these are at most 2,000.
-- Of more, the other legs find enough. `offset 0` keeps the planner from merging the subqueries: nodes and vectors are
-- looked up by id, one by one.
--
-- :boosts bigint[] tags   :vector halfvec or null   :pool int candidates   conditions on the node m
--
-- Index: node_tags_tag_idx; nodes_pk
with tagged as materialized (
    select nt.node_id as id from htm.node_tags nt where nt.tag_id = any (:boosts) limit 2001
)
select t.id
  from (select distinct id from tagged where (select count(*) from tagged) <= 2000) t
 cross join lateral (select n.* from htm.nodes n where n.id = t.id{{of_n}} offset 0) m
  left join lateral (select s.embedding from {{store}} s where s.node_id = m.id and s.namespace = m.namespace offset 0) e on true
 where {{conditions}}
 order by e.embedding <=> :vector, m.created_at desc, t.id desc
 limit :pool
