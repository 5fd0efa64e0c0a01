-- What robots have in mind, as it was written last; the fullest first. Costs what the working memories hold.
--
-- $1 text namespace, or null for all   $2 bigint how many robots   $3 bigint what one without a budget of its own holds
--
-- Index: working_memory_pk, nodes_pk
select r.namespace, r.name, count(*) as nodes, sum(n.token_count)::bigint as tokens,
       coalesce(r.max_tokens, $3) as max_tokens
  from htm.working_memory w
  join htm.robots r on r.id = w.robot_id
  join htm.nodes n on n.id = w.node_id and n.deleted_at is null
 where $1::text is null or r.namespace = $1
 group by r.id
 order by tokens desc, r.namespace, r.name
 limit $2
