-- What a merge of robots would move: see merge_nodes.sql and merge_robots.sql, whose counts these are.
--
-- $1 bigint[] robots that would give and go   $2 bigint robot that would take   $3 text their namespace
--
-- Index: nodes_namespace_created_at_idx, working_memory_pk, group_members_robot_idx; repeats is read whole
select (select count(*) from htm.nodes where namespace = $3 and robot_id = any ($1)),
       (select count(distinct node_id) from htm.repeats where robot_id = any ($1)),
       (select count(distinct w.node_id) from htm.working_memory w
         where w.robot_id = any ($1)
           and not exists (select from htm.working_memory o where o.robot_id = $2 and o.node_id = w.node_id)),
       (select count(*) from htm.group_members where robot_id = any ($1))
