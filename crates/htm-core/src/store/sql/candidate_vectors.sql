-- The vectors of these nodes in the model's store ({{store}}), also those of former texts, with the texts' revisions.
--
-- :namespaces text[]   :nodes bigint[]
--
-- Index: the store's primary key
select e.node_id, e.revision, e.embedding
  from unnest(:namespaces::text[], :nodes::bigint[]) as u(namespace, node)
  join {{store}} e on e.node_id = u.node and e.namespace = u.namespace
