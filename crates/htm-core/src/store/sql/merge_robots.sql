-- Gives the repeats, working memories and group memories of robots to another robot, and deletes the robots. Their
-- nodes must be moved before, and the robots and their groups must be locked. Their memberships end, because a
-- membership belongs to a process of a deleted robot. Returns the numbers of moved repeats, moved nodes in working
-- memory, and ended memberships.
--
-- :from bigint[] robots that give and go   :into bigint robot that takes
--
-- Index: robots_pk, working_memory_pk, group_members_robot_idx, merged_robots_into_idx; repeats and group_memory are read whole
with said_again as (
    insert into htm.repeats as r (namespace, node_id, robot_id, count, first_at, last_at)
    select namespace, node_id, :into::bigint, sum(count), min(first_at), max(last_at)
      from htm.repeats where robot_id = any (:from) group by namespace, node_id
    on conflict on constraint repeats_pk do update
       set (count, first_at, last_at) = (r.count + excluded.count, least(r.first_at, excluded.first_at),
                                         greatest(r.last_at, excluded.last_at))
    returning node_id
), gone as (
    -- Those of the robot's own that were raised above are other rows.
    delete from htm.repeats where robot_id = any (:from)
), in_mind as (
    insert into htm.working_memory as m (robot_id, namespace, node_id, added_at, accessed_at, accesses)
    select :into::bigint, namespace, node_id, min(added_at), max(accessed_at), sum(accesses)
      from htm.working_memory where robot_id = any (:from) group by namespace, node_id
    on conflict on constraint working_memory_pk do nothing
    returning node_id
), member as (
    delete from htm.group_members where robot_id = any (:from) returning group_id
), brought as (
    update htm.group_memory set robot_id = :into::bigint where robot_id = any (:from)
), active as (
    update htm.robots r set last_active = greatest(r.last_active, s.last_active)
      from (select max(last_active) as last_active from htm.robots where id = any (:from)) s
     where r.id = :into::bigint
), followed as (
    insert into htm.merged_robots (robot_id, into_id) select u.id, :into::bigint from unnest(:from::bigint[]) u(id)
), followed_on as (
    update htm.merged_robots set into_id = :into::bigint where into_id = any (:from)
), removed as (
    delete from htm.robots where id = any (:from)
)
select (select count(*) from said_again) as repeats, (select count(*) from in_mind) as working_memory,
       (select count(*) from member) as memberships
