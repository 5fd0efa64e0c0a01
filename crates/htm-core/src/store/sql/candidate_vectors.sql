-- The vectors of these nodes, as far as the model's store ({{store}}) has them; that of a former text counts as well.
--
-- :nodes bigint[]
--
-- Index: the store's primary key
select e.node_id, e.embedding
  from {{store}} e
 where e.node_id = any (:nodes)
