-- Working memories of open groups, the fullest first. Reads every entry.
--
-- :namespace text, or null for all   :top bigint how many groups
--
-- Index: group_memory_pk, group_members_pk, nodes_pk
select g.namespace, g.name as "group", b.members, b.active, m.nodes, m.tokens, g.max_tokens,
       m.tokens::float8 / g.max_tokens as utilisation
  from htm.robot_groups g
 cross join lateral (
    select count(*) as members,
           count(*) filter (where role = 'active' and seen_at > now() - lease_ms * interval '1 millisecond') as active
      from htm.group_members
     where group_id = g.id) b
 cross join lateral (
    select count(*) as nodes, coalesce(sum(n.token_count), 0)::bigint as tokens
      from htm.group_memory m
      join htm.nodes n on n.id = m.node_id and n.namespace = m.namespace and n.deleted_at is null
     where m.group_id = g.id and m.namespace = g.namespace and m.removed_at is null) m
 where (:namespace::text is null or g.namespace = :namespace) and g.closed_at is null
 order by m.tokens desc, g.namespace, g.name
 limit :top
