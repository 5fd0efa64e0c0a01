-- The text leg by an index of pg_textsearch: the nodes with the highest BM25. The index is asked until enough nodes pass.
-- Not htm.visible_nodes: the extension looks for the index at the table that is named. Row-level security holds for it too.
--
-- :text text   :index text the qualified name   :pool int candidates   conditions on the node m
--
-- Index: of the kind bm25 on the texts, made by the operator
select m.id
  from htm.nodes m
 where {{conditions}}
 order by m.content <@> to_bm25query(:text, :index)
 limit :pool
