-- The live ones of these nodes, with their current data; the text only of those at another revision than the given one.
--
-- :nodes bigint[]   :revisions int[] the revision that the caller knows of each; 0 for none
--
-- Index: nodes_pk
select n.id as node, n.revision, case when n.revision <> k.revision then n.content end as content,
       n.token_count, n.token_encoding, n.importance, n.source, n.created_at as happened_at
  from unnest(:nodes::bigint[], :revisions::int[]) as k(id, revision)
  join htm.nodes n on n.id = k.id and n.deleted_at is null
