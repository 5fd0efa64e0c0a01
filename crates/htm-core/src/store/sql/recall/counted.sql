-- The number of nodes of the namespaces by their statistics; null if one of them has no statistics yet.
--
-- :namespaces text[]
--
-- Index: namespace_statistics_pk
select case when count(*) = cardinality(:namespaces::text[])
            then sum(c.node_count + c.unseen_count)::float8 end as nodes
  from htm.namespace_statistics c
 where c.namespace = any (:namespaces) and c.refreshed_at is not null
