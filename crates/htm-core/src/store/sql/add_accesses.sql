-- Adds to the counts of how often nodes were recalled. Nodes are taken in one order, so that two processes never wait for
-- one another; one that somebody changes or removes at this moment is left out.
--
-- :namespaces text[] and :nodes bigint[] of each
-- :times bigint[] how often each   :ago_ms bigint[] milliseconds since the last time
--
-- Index: nodes_pk, node_accesses_pk
with node as materialized (
    select n.namespace, n.id, u.times, u.ago_ms
      from unnest(:namespaces::text[], :nodes::bigint[], :times::bigint[], :ago_ms::bigint[]) as u(namespace, id, times, ago_ms)
      join htm.nodes n on n.namespace = u.namespace and n.id = u.id
     order by n.id
       for key share of n skip locked
)
insert into htm.node_accesses as a (namespace, node_id, access_count, last_accessed)
select namespace, id, times, now() - ago_ms * interval '1 millisecond' from node order by id
on conflict on constraint node_accesses_pk do update
   set access_count = a.access_count + excluded.access_count,
       last_accessed = greatest(a.last_accessed, excluded.last_accessed)
