-- The text leg: the nodes with the largest sum of rare words' weights. `offset 0` keeps the planner from merging the
-- subquery: each word is looked up by itself in the index of words, and no text is read.
--
-- :words tsquery[]   :weights float8[]   :exact boolean[] exact terms, whose nodes come first
-- :pool int candidates   conditions on the node m
--
-- Index: nodes_tsv_idx
select m.id
  from unnest(:words::tsquery[], :weights::float8[], :exact::boolean[]) w(query, weight, is_exact)
 cross join lateral (select m.id from htm.visible_nodes m where m.tsv @@ w.query and {{conditions}} offset 0) m
 group by m.id
 order by bool_or(w.is_exact) desc, sum(w.weight) desc, m.id desc
 limit :pool
