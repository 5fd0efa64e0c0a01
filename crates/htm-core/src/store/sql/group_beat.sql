-- A member's heartbeat. No row: the group is no more. No role: the robot is no member, or another process speaks for it.
-- Orphaned, for a passive member: an active one was not seen for its lease, and no other is alive.
--
-- $1 bigint group   $2 bigint robot   $3 uuid session   $4 bigint the version that it has
--
-- Index: robot_groups_pk, group_members_pk
with me as (
    update htm.group_members set seen_at = clock_timestamp(), seen_version = greatest(seen_version, $4)
     where group_id = $1 and robot_id = $2 and session = $3
    returning role
), active as (
    select seen_at + lease_ms * interval '1 millisecond' > clock_timestamp() as alive
      from htm.group_members where group_id = $1 and role = 'active'
)
select g.version, g.closed_at is not null as closed, (select role from me) as role,
       coalesce((select role from me) = 'passive' and (select not bool_or(alive) from active), false) as orphaned
  from htm.robot_groups g
 where g.id = $1
