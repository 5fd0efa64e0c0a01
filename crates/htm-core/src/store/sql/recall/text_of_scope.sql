-- As text.sql, by reading each node in scope: if these are few, the index would bring more from other namespaces.
-- `offset 0` keeps the planner from merging the subquery: nodes are read by namespace, and each text is unpacked once for
-- all words.
--
-- :words tsquery[]   :weights float8[]   :exact boolean[]   :any tsquery any of them, or null
-- :namespaces text[]   :pool int candidates   conditions on the node m   order: by time; none with a required phrase
--
-- Index: nodes_namespace_created_at_idx; nodes_tsv_idx (phrases)
select m.id
  from unnest(:namespaces::text[]) s(namespace)
 cross join lateral (
       select m.id, ts_delete(m.tsv, '') as tsv
         from htm.visible_nodes m
        where m.namespace = s.namespace and {{conditions}}
        {{order}}
       offset 0) m
 cross join lateral (
       select coalesce(bool_or(w.is_exact), false) as is_exact, coalesce(sum(w.weight), 0) as weight
         from unnest(:words::tsquery[], :weights::float8[], :exact::boolean[]) w(query, weight, is_exact)
        where m.tsv @@ w.query) found
 where :any::tsquery is null or m.tsv @@ :any::tsquery
 order by found.is_exact desc, found.weight desc, m.id desc
 limit :pool
