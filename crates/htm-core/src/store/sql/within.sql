-- A condition of recall.sql: the row {{row}}, of the nodes or of a store of vectors, is of the namespaces ($1) and the
-- timeframe ($2, $3, $18).
--
-- Index: nodes_namespace_created_at_idx, embeddings_<id>_scope_idx
       {{row}}.namespace = any ($1)
       and {{row}}.created_at >= coalesce($2::timestamptz, '-infinity')
       and {{row}}.created_at < coalesce($3::timestamptz, 'infinity')
       and ($18::timestamptz[] is null or (select ranges from several) @> {{row}}.created_at)
