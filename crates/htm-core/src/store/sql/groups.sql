-- Groups with the use of their working memory, by namespace and name.
--
-- :namespace text, or null for all   :name text, or null for all
--
-- Index: robot_groups_namespace_name_key, group_memory_pk, nodes_pk
select g.id, g.namespace, g.name, g.max_tokens, g.version, g.created_at, g.closed_at,
       coalesce(m.nodes, 0) as nodes, coalesce(m.tokens, 0)::bigint as tokens
  from htm.robot_groups g
  left join lateral (
    select count(*) as nodes, sum(n.token_count) as tokens
      from htm.group_memory m
      join htm.nodes n on n.id = m.node_id and n.namespace = m.namespace and n.deleted_at is null
     where m.group_id = g.id and m.namespace = g.namespace and m.removed_at is null
  ) m on true
 where (:namespace::text is null or g.namespace = :namespace) and (:name::text is null or g.name = :name)
 order by g.namespace, g.name
