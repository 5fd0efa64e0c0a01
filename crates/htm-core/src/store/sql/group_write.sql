-- Changes a group's working memory, whose row the caller has locked: the change gets the next version.
--
-- $1 bigint   group          $2 bigint   robot that brings what is added, or null to leave who brought it
-- $3 bigint[] nodes to add   $4 bigint[] nodes to remove
-- $5 bigint[] nodes that were used, with $6 bigint[] how often and $7 bigint[] milliseconds since the last time
--
-- Index: robot_groups_pk, group_memory_pk, nodes_pk
with next as (
    update htm.robot_groups set version = version + 1 where id = $1 returning version
), added as (
    insert into htm.group_memory as m (group_id, namespace, node_id, version, robot_id)
    select $1, n.namespace, n.id, next.version, $2 from htm.nodes n cross join next where n.id = any ($3)
    on conflict on constraint group_memory_pk do update
       set version = excluded.version,
           removed_at = null,
           robot_id = coalesce(excluded.robot_id, m.robot_id),
           added_at = case when m.removed_at is null then m.added_at else excluded.added_at end,
           accessed_at = excluded.accessed_at,
           accesses = case when m.removed_at is null then m.accesses + 1 else 0 end
), removed as (
    update htm.group_memory m set version = next.version, removed_at = now()
      from next
     where m.group_id = $1 and m.node_id = any ($4) and m.removed_at is null
), used as (
    update htm.group_memory m
       set version = next.version, accesses = m.accesses + u.times,
           accessed_at = greatest(m.accessed_at, now() - u.ago_ms * interval '1 millisecond')
      from next, unnest($5::bigint[], $6::bigint[], $7::bigint[]) as u(node_id, times, ago_ms)
     where m.group_id = $1 and m.node_id = u.node_id and m.removed_at is null
       and m.node_id <> all ($3) and m.node_id <> all ($4)
)
select version from next
