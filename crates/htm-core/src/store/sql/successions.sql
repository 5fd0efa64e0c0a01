-- The relations by which some nodes are superseded, and the nodes that supersede them, and so on: of live nodes, the nearest
-- first. Each relation is read once.
--
-- :nodes bigint[]   :namespaces text[], that of each node   :most bigint how many at most
--
-- Index: relations_to_node_idx, nodes_pk
with recursive links as (
    select h.namespace, null::bigint as node, h.node as successor
      from unnest(:namespaces::text[], :nodes::bigint[]) h(namespace, node)
    union
    select l.namespace, l.successor, later.node
      from links l
     -- One by one: as of a time, a join would read all nodes.
     cross join lateral (
           select x.from_node as node
             from htm.relations x
             join htm.nodes s on s.namespace = x.namespace and s.id = x.from_node and s.deleted_at is null
            where x.namespace = l.namespace and x.to_node = l.successor and x.kind = 'supersedes'
           offset 0) later
)
select node, successor from links where node is not null limit :most
