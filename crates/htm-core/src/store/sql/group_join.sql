-- Makes a robot a member of a group, whose row the caller has locked, or replaces its membership. Opens a closed group.
-- Returns the role: the requested one, else active if no other active member is alive.
--
-- :group bigint   :robot bigint   :membership uuid   :lease_ms bigint   :role text or null
--
-- Index: robot_groups_pk, group_members_pk
with opened as (
    update htm.robot_groups set closed_at = null where id = :group and closed_at is not null
), wanted as (
    select coalesce(:role::text, case when exists (
               select from htm.group_members
                where group_id = :group and robot_id <> :robot and role = 'active'
                  and seen_at + lease_ms * interval '1 millisecond' > clock_timestamp()) then 'passive' else 'active' end)
           as role
)
insert into htm.group_members (group_id, robot_id, role, membership, lease_ms, seen_at, joined_at)
select :group, :robot, role, :membership, :lease_ms, clock_timestamp(), clock_timestamp() from wanted
on conflict on constraint group_members_pk do update
   set (role, membership, lease_ms, seen_at, seen_version, joined_at)
     = (excluded.role, excluded.membership, excluded.lease_ms, excluded.seen_at, 0, excluded.joined_at)
returning role
