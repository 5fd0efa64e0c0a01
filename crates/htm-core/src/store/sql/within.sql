-- A condition of recall.sql: the row {{row}}, of the nodes or of a store of vectors, is of the namespace ($1) and the
-- timeframe ($2, $3, $18).
--
-- Index: nodes_namespace_created_at_idx, embeddings_<id>_scope_idx
       {{row}}.namespace = $1
       and ($2::timestamptz is null or {{row}}.created_at >= $2)
       and ($3::timestamptz is null or {{row}}.created_at < $3)
       and ($18::timestamptz[] is null or (select ranges from several) @> {{row}}.created_at)
