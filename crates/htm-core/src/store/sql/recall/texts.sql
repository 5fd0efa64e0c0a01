-- The texts of nodes as lexemes, and the other data of the ranking. Vectors are read by a statement of their own: joined,
-- they would be looked up one by one, 600 in 2.4 ms instead of 1.4.
--
-- :nodes bigint[]
--
-- Index: nodes_pk
select m.id, m.speaker, m.created_at, tsvectorsend(m.tsv) as text
  from htm.nodes m
 where m.id = any (:nodes){{of_m}}
