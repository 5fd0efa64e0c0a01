-- The text leg: the nodes with most of the rare words. Each word is looked up by itself: the index knows which nodes have it,
-- and no text is read.
--
-- :words tsquery[]   :weights float8[]   :exact boolean[] what is there as written comes first
-- :pool int candidates   conditions on the node m
--
-- Index: nodes_tsv_idx
select m.id
  from unnest(:words::tsquery[], :weights::float8[], :exact::boolean[]) w(query, weight, is_exact)
 cross join lateral (select m.id from htm.visible_nodes m where m.tsv @@ w.query and {{conditions}} offset 0) m
 group by m.id
 order by bool_or(w.is_exact) desc, sum(w.weight) desc, m.id desc
 limit :pool
