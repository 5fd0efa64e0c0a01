-- The saved working memory of a robot with its nodes' current texts, without forgotten nodes.
--
-- :robot bigint   :namespaces text[] namespaces whose nodes are meant, with `a/*` for those below `a`, or null for all
--
-- Index: working_memory_pk, nodes_pk
select n.id as node, n.revision, n.content, n.token_count, n.token_encoding, n.importance, n.source,
       n.created_at as happened_at, w.added_at, w.accessed_at, w.accesses
  from htm.working_memory w
  join htm.nodes n on n.id = w.node_id and n.namespace = w.namespace and n.deleted_at is null
 where w.robot_id = :robot and (:namespaces::text[] is null or htm.is_within(n.namespace, :namespaces))
 order by w.added_at, n.id
