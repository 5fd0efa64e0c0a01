-- Promotes the longest-standing passive member of a locked group if no active one is alive, and demotes lost ones.
-- Returns the changed roles.
--
-- :group bigint, whose row the caller has locked   :except bigint robot that is not promoted, or null
--
-- Index: group_members_pk
with member as (
    select robot_id, role, joined_at, seen_at + lease_ms * interval '1 millisecond' > clock_timestamp() as alive
      from htm.group_members where group_id = :group
), heir as (
    select robot_id from member
     where role = 'passive' and alive and robot_id is distinct from :except
       and not exists (select from member where role = 'active' and alive)
     order by joined_at, robot_id
     limit 1
)
update htm.group_members m
   set role = case when m.robot_id = heir.robot_id then 'active' else 'passive' end
  from heir, htm.robots r
 where m.group_id = :group and (m.robot_id = heir.robot_id or m.role = 'active') and r.id = m.robot_id
returning r.name, m.role
