-- Saved working memories of robots, the fullest first. Reads every entry.
--
-- :namespace text, or null for all   :top bigint how many robots
-- :max_tokens bigint budget of a robot without one of its own
--
-- Index: working_memory_pk, nodes_pk
select r.namespace, r.name, count(*) as nodes, sum(n.token_count)::bigint as tokens,
       coalesce(r.max_tokens, :max_tokens) as max_tokens
  from htm.working_memory w
  join htm.robots r on r.id = w.robot_id
  join htm.nodes n on n.id = w.node_id and n.namespace = w.namespace and n.deleted_at is null
 where :namespace::text is null or r.namespace = :namespace
 group by r.id
 order by tokens desc, r.namespace, r.name
 limit :top
