-- The nodes, counted: all together, by namespace, by robot and by type, those with the most first.
-- One parallel pass over the nodes of the scope, at a million a second or two; the rest works on its groups.
--
-- :namespace text, or null for all   :top bigint how many of each kind
--
-- Index: nodes_namespace_created_at_idx for a small namespace, else none
with counted as materialized (
    select namespace, robot_id, type,
           count(*) filter (where deleted_at is null) as nodes,
           sum(token_count) filter (where deleted_at is null) as tokens,
           count(*) filter (where deleted_at is not null) as forgotten,
           min(created_at) filter (where deleted_at is null) as oldest,
           max(created_at) filter (where deleted_at is null) as newest,
           count(*) filter (where deleted_at is null and created_at > now() - interval '24 hours') as day,
           count(*) filter (where deleted_at is null and created_at > now() - interval '7 days'
                                  and created_at <= now() - interval '24 hours') as week,
           count(*) filter (where deleted_at is null and created_at > now() - interval '30 days'
                                  and created_at <= now() - interval '7 days') as month
      from htm.nodes
     where :namespace::text is null or namespace = :namespace
     group by namespace, robot_id, type
), grouped as (
    select case grouping(namespace, robot_id, type)
               when 7 then 'all' when 3 then 'namespace' when 1 then 'robot' else 'type' end as kind,
           namespace, robot_id, type,
           sum(nodes) as nodes, sum(tokens) as tokens, sum(forgotten) as forgotten,
           min(oldest) as oldest, max(newest) as newest, sum(day) as day, sum(week) as week, sum(month) as month
      from counted
     group by grouping sets ((), (namespace), (namespace, robot_id), (type))
    having sum(nodes) > 0 or grouping(namespace, robot_id, type) = 7
), ranked as (
    select *, row_number() over (partition by kind order by nodes desc, namespace, robot_id, type) as place,
           count(*) over (partition by kind) as distinct_groups
      from grouped
)
select g.kind, g.namespace, case g.kind when 'robot' then r.name when 'namespace' then g.namespace else g.type end as name,
       coalesce(g.nodes, 0)::bigint as nodes, coalesce(g.tokens, 0)::bigint as tokens,
       coalesce(g.forgotten, 0)::bigint as forgotten, g.oldest, g.newest,
       coalesce(g.day, 0)::bigint as day, coalesce(g.week, 0)::bigint as week, coalesce(g.month, 0)::bigint as month,
       g.distinct_groups
  from ranked g
  left join htm.robots r on r.id = g.robot_id
 where g.place <= :top
 order by g.kind, g.place
