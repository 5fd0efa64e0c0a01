-- The number of vectors in scope, counted up to :few and one more.
--
-- :few int   scope on the vector e
--
-- Index: embeddings_<id>_scope_idx
select count(*) as count from (select from {{store}} e where {{scope}} limit :few + 1) counted
