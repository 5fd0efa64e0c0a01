-- The changes of a group's working memory that a member lacks, with its role and membership: a row for each node, or one
-- row without a node. A member older than the oldest kept removal gets the whole working memory.
--
-- :group bigint   :robot bigint   :seen bigint the version that it has, -1 for none
--
-- Index: robot_groups_pk, group_members_pk, group_memory_version_idx, nodes_pk
select g.version, g.max_tokens, g.closed_at is not null as closed, :seen < g.pruned_version as complete, b.role, b.membership,
       m.node_id as node, m.removed_at is null and n.deleted_at is null as live,
       n.content, n.token_count, n.token_encoding, n.importance, n.source, n.created_at, n.revision,
       m.added_at, m.accessed_at, m.accesses
  from htm.robot_groups g
  left join htm.group_members b on b.group_id = g.id and b.robot_id = :robot
  left join htm.group_memory m on m.group_id = g.id and m.namespace = g.namespace
                              and m.version > case when :seen < g.pruned_version then -1 else :seen end
  left join htm.nodes n on n.id = m.node_id and n.namespace = m.namespace
 where g.id = :group
