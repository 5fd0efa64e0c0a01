-- The vectors of these nodes in the model's store ({{store}}), also those of former texts, with the texts' revisions.
--
-- :nodes bigint[]   :namespaces text[], theirs
--
-- Index: the store's primary key
select e.node_id, e.revision, e.embedding
  from {{store}} e
 where e.namespace = any (:namespaces) and e.node_id = any (:nodes)
