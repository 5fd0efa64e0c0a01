-- A part of recall.sql: the nodes that have any of the words that choose, of the namespaces and the timeframe; see `reach`.
--
-- Index: nodes_tsv_idx, or nodes_namespace_created_at_idx
cross join lateral (
                   (select n.* from htm.nodes n where not (select is_each from reach) and n.tsv @@ q.query offset 0)
                   union all
                   select n.*
                     from (select n.* from htm.nodes n where (select is_each from reach) and {{within:n}} offset 0) n
                    where n.tsv @@ q.query) m
