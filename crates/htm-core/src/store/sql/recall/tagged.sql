-- The leg of the tags that hits had better have: what has any of them, the nearest to the query first, as long as those are
-- few; of many the other legs find enough.
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
