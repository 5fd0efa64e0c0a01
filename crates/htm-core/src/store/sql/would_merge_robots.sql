-- The counts of a merge of robots before it is done: those of merge_nodes.sql and merge_robots.sql.
--
-- :from bigint[] robots that would give and go   :into bigint robot that would take   :namespace text, theirs
--
-- Index: nodes_namespace_created_at_idx, working_memory_pk, group_members_robot_idx; repeats is read whole
select (select count(*) from htm.nodes where namespace = :namespace and robot_id = any (:from)) as nodes,
       (select count(distinct node_id) from htm.repeats where robot_id = any (:from)) as repeats,
       (select count(distinct w.node_id) from htm.working_memory w
         where w.robot_id = any (:from)
           and not exists (select from htm.working_memory o
                            where o.robot_id = :into and o.node_id = w.node_id and o.namespace = w.namespace)
       ) as working_memory,
       (select count(*) from htm.group_members where robot_id = any (:from)) as memberships
