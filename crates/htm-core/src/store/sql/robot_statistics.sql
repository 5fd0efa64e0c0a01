-- Robots with their counts and times, by namespace and name. Reads all nodes of the namespace once, also for one robot:
-- an index by robot would cost every write more than it saves here.
--
-- :namespace text, or null for all   :name text, or null for all
--
-- Index: robots_namespace_name_key, nodes_namespace_created_at_idx, working_memory_pk, group_members_robot_idx
with robot as materialized (
    select * from htm.robots
     where (:namespace::text is null or namespace = :namespace) and (:name::text is null or name = :name)
), written as (
    select robot_id,
           count(*) filter (where deleted_at is null) as nodes,
           sum(token_count) filter (where deleted_at is null) as tokens,
           count(*) filter (where deleted_at is not null) as forgotten,
           min(created_at) filter (where deleted_at is null) as first_memory,
           max(created_at) filter (where deleted_at is null) as last_memory
      from htm.nodes
     where (:namespace::text is null or namespace = :namespace)
       and (:name::text is null or robot_id = any (array(select id from robot)))
     group by robot_id
), repeated as (
    select robot_id, sum(count) as repeats from htm.repeats
     where robot_id = any (array(select id from robot))
     group by robot_id
), in_mind as (
    select w.robot_id, count(*) as nodes, sum(n.token_count) as tokens
      from robot r
      join htm.working_memory w on w.robot_id = r.id
      join htm.nodes n on n.id = w.node_id and n.namespace = w.namespace and n.deleted_at is null
     group by w.robot_id
)
select r.id, r.uuid, r.namespace, r.name, r.metadata, r.created_at, r.last_active, r.max_tokens,
       coalesce(w.nodes, 0) as nodes, coalesce(w.tokens, 0)::bigint as tokens, coalesce(w.forgotten, 0) as forgotten,
       coalesce(p.repeats, 0)::bigint as repeats, w.first_memory, w.last_memory,
       coalesce(m.nodes, 0) as in_working_memory, coalesce(m.tokens, 0)::bigint as working_memory_tokens,
       array(select g.name from htm.group_members b join htm.robot_groups g on g.id = b.group_id
              where b.robot_id = r.id order by g.name) as groups
  from robot r
  left join written w on w.robot_id = r.id
  left join repeated p on p.robot_id = r.id
  left join in_mind m on m.robot_id = r.id
 order by r.namespace, r.name
