-- How similar each vector of some namespaces is to the query.
--
-- :vector halfvec   scope on the vector e
--
-- Index: embeddings_<id>_scope_idx
select e.node_id, 1 - (e.embedding <=> :vector) as similarity
  from {{store}} e
 where {{scope}}
