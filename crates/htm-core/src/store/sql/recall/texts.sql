-- The texts of nodes, as full text search keeps them, and what else the ranking looks at.
--
-- :nodes bigint[]
--
-- Index: nodes_pk
select m.id, lower(m.speaker) as speaker, m.created_at, tsvectorsend(m.tsv) as text
  from htm.nodes m
 where m.id = any (:nodes)
