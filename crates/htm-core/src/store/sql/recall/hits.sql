-- The hits, in the order of their ids as given. `offset 0` keeps the planner from merging the subqueries: nodes and
-- accesses are looked up by id, one by one.
--
-- :nodes bigint[]
--
-- Index: nodes_pk, node_accesses_pk, relations_to_node_idx
select {{node}},
       {{snippet}} as snippet, {{tag_share}} as tag_share,
       exists (select from {{store}} e where e.node_id = m.id and e.namespace = m.namespace and e.revision < m.revision) as stale, a.access_count, a.last_accessed,
       greatest(extract(epoch from now() - m.created_at)::float8 / 3600, 0) as hours
  from unnest(:nodes::bigint[]) with ordinality h(id, ord)
 cross join lateral (select n.* from htm.nodes n where n.id = h.id{{of_n}} offset 0) m
  join htm.robots r on r.id = m.robot_id
  left join lateral (select a.access_count, a.last_accessed from htm.node_accesses a where a.node_id = m.id and a.namespace = m.namespace offset 0) a on true
 order by h.ord
