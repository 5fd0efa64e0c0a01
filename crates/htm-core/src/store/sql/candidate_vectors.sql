-- The vectors of these nodes in the model's store ({{store}}), also those of former texts, with the texts' revisions.
--
-- :nodes bigint[]
--
-- Index: the store's primary key
select e.node_id, e.revision, e.embedding
  from {{store}} e
 where e.node_id = any (:nodes)
