-- The texts of nodes, as full text search keeps them, how similar they are to the query, and what else the ranking looks
-- at. A node without an embedding has no similarity.
--
-- :nodes bigint[]   :vector halfvec or null
--
-- Index: nodes_pk, embeddings_<id>_pk
select m.id, lower(m.speaker) as speaker, m.created_at, tsvectorsend(m.tsv) as text,
       1 - (e.embedding <=> :vector) as similarity
  from htm.nodes m
  left join {{store}} e on e.node_id = m.id and e.namespace = m.namespace
 where m.id = any (:nodes){{of_m}}
