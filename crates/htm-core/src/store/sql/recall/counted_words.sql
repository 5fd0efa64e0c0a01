-- The counted lexemes of some namespaces that begin with each of some letters, with their numbers of nodes, and the times of
-- the counts in the order of the namespaces. A misspelled word has at most 40 letters, and is at most two edits away.
--
-- :namespaces text[]   :firsts text[] the first letters
--
-- Index: lexeme_statistics_pk, namespace_statistics_pk
select a.first, coalesce(w.lexemes, '{}') as lexemes, coalesce(w.nodes, '{}') as nodes,
       (select array_agg(c.refreshed_at order by c.namespace)
          from htm.namespace_statistics c
         where c.namespace = any (:namespaces) and c.refreshed_at is not null) as counted_at
  from unnest(:firsts::text[]) a(first)
 cross join lateral (
       select array_agg(w.lexeme) as lexemes, array_agg(w.nodes) as nodes
         from (select s.lexeme, sum(s.node_count)::float8 as nodes
                 from htm.lexeme_statistics s
                where s.namespace = any (:namespaces) and s.lexeme >= a.first and s.lexeme < a.first || chr(1114111)
                  and length(s.lexeme) <= 42
                group by 1) w) w
