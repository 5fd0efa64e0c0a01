-- The number of the nodes that an erasure selects, and a digest of them and their revisions.
-- {{selected}} is the condition on the node `n`.
--
-- Index: nodes_pk, nodes_namespace_created_at_idx
select count(*), left(md5(coalesce(string_agg(n.id || '.' || n.revision, ' ' order by n.id), '')), 16)
  from htm.nodes n
 where {{selected}}
