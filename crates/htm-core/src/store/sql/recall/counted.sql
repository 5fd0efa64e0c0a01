-- The number of nodes of the namespaces by their statistics, null if one of them has no statistics yet; and the approximate
-- number of all nodes.
--
-- :namespaces text[]
--
-- Index: namespace_statistics_pk
select case when count(*) = cardinality(:namespaces::text[])
            then sum(c.node_count + c.unseen_count)::float8 end as nodes,
       -- A partitioned table has a number beside those of its partitions.
       (select sum(greatest(reltuples, 0))::float8 from pg_class
         where relkind = 'r'
           and (oid = 'htm.nodes'::regclass or oid in (select inhrelid from pg_inherits where inhparent = 'htm.nodes'::regclass))) as all_nodes
  from htm.namespace_statistics c
 where c.namespace = any (:namespaces) and c.refreshed_at is not null
