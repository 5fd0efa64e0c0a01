-- How similar nodes are to the query: the cosine, for those that have an embedding.
--
-- :nodes bigint[]   :vector halfvec
--
-- Index: embeddings_<id>_pk
select e.node_id, 1 - (e.embedding <=> :vector) as similarity
  from {{store}} e
 where e.node_id = any (:nodes)
