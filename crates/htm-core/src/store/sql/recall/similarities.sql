-- The similarity of each vector in a scope to the query, in one row: there may be thousands.
--
-- :vector halfvec   scope on the vector e
--
-- Index: embeddings_<id>_scope_idx, or embeddings_<id>_pk (some nodes)
select coalesce(array_agg(e.node_id), '{}') as nodes,
       coalesce(array_agg(1 - (e.embedding <=> :vector)), '{}') as similarities
  from {{store}} e
 where {{scope}}
