-- Changes a group's working memory, whose row the caller has locked: the change gets the next version.
--
-- :group bigint   :namespace text, its own
-- :robot bigint robot that brings what is added, or null to leave who brought it
-- :added bigint[] nodes to add, the oldest first   :removed bigint[] nodes to remove
-- :used bigint[] nodes that were used, with :times bigint[] how often and :ago_ms bigint[] milliseconds since the last time
--
-- Index: robot_groups_pk, group_memory_pk, nodes_pk
with next as (
    update htm.robot_groups set version = version + 1 where id = :group returning version
), added as (
    insert into htm.group_memory as m (group_id, namespace, node_id, version, robot_id, added_at, accessed_at, accesses)
    select :group, n.namespace, n.id, next.version, :robot, u.added_at, u.added_at, coalesce(it.times, 0)
      -- By their ids, whatever the statistics say of the namespace.
      from (select :namespace::text as namespace, unnest(:added::bigint[]) as node,
                   now() + generate_subscripts(:added::bigint[], 1) * interval '1 microsecond' as added_at) u
      join htm.nodes n on n.id = u.node and n.namespace = u.namespace
      left join unnest(:used::bigint[], :times::bigint[]) as it(node_id, times) on it.node_id = n.id
     cross join next
    on conflict on constraint group_memory_pk do update
       set version = excluded.version,
           removed_at = null,
           robot_id = coalesce(excluded.robot_id, m.robot_id),
           added_at = case when m.removed_at is null then m.added_at else excluded.added_at end,
           accessed_at = excluded.accessed_at,
           accesses = case when m.removed_at is null then m.accesses + 1 + excluded.accesses else 0 end
), removed as (
    update htm.group_memory m set version = next.version, removed_at = now()
      from next
     where m.group_id = :group and m.namespace = :namespace and m.node_id = any (:removed) and m.removed_at is null
), used as (
    update htm.group_memory m
       set version = next.version, accesses = m.accesses + u.times,
           accessed_at = greatest(m.accessed_at, now() - u.ago_ms * interval '1 millisecond')
      from next, unnest(:used::bigint[], :times::bigint[], :ago_ms::bigint[]) as u(node_id, times, ago_ms)
     where m.group_id = :group and m.namespace = :namespace and m.node_id = u.node_id and m.removed_at is null
       and m.node_id <> all (:added) and m.node_id <> all (:removed)
)
select version from next
