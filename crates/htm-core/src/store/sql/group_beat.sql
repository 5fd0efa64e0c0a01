-- A member's heartbeat. No row: the group was deleted. No role: the robot is no member, or another process holds its
-- membership. Orphaned, for a passive member: no active one is alive. If there never was one, an active one may still
-- join within a lease.
--
-- :group bigint   :robot bigint   :membership uuid   :seen_version bigint the version that it has
--
-- Index: robot_groups_pk, group_members_pk
with me as (
    update htm.group_members set seen_at = clock_timestamp(), seen_version = greatest(seen_version, :seen_version)
     where group_id = :group and robot_id = :robot and membership = :membership
    returning role, joined_at + lease_ms * interval '1 millisecond' < clock_timestamp() as has_waited
), active as (
    select seen_at + lease_ms * interval '1 millisecond' > clock_timestamp() as alive
      from htm.group_members where group_id = :group and role = 'active'
)
select g.version, g.closed_at is not null as closed, (select role from me) as role,
       coalesce((select role = 'passive' and case when exists (select from active)
                                                  then not exists (select from active where alive) else has_waited end
                   from me), false) as orphaned
  from htm.robot_groups g
 where g.id = :group
