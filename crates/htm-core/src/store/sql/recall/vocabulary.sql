-- The lexemes of some namespaces that a misspelled word may mean: those with its first letter and about its length, and
-- the named ones. Of a namespace without statistics, the lexemes of 2,000 nodes.
--
-- :namespaces text[]   :named text[]
-- :firsts text[] the first letters   :shortest int[] and :longest int[]: from and to how many letters
--
-- Index: lexeme_statistics_pk; nodes_namespace_created_at_idx (a namespace without statistics)
with asked as materialized (
    select * from unnest(:firsts::text[], :shortest::int[], :longest::int[]) a(first, shortest, longest)
)
select lexeme, sum(nodes)::float8 as nodes
  from (select s.namespace, s.lexeme, s.node_count as nodes
          from htm.lexeme_statistics s
         where s.namespace = any (:namespaces) and s.lexeme = any (:named)
         union
        select s.namespace, s.lexeme, s.node_count
          from asked a
          join htm.lexeme_statistics s
            on s.namespace = any (:namespaces) and s.lexeme >= a.first and s.lexeme < a.first || chr(1114111)
           and length(s.lexeme) between a.shortest and a.longest
         union all
        select n.namespace, x.lexeme, count(*)
          from unnest(:namespaces::text[]) n(namespace)
         cross join lateral (
               select m.tsv from htm.nodes m
                where m.namespace = n.namespace and m.deleted_at is null
                  and not exists (select from htm.namespace_statistics c
                                   where c.namespace = n.namespace and c.refreshed_at is not null)
                limit 2000) m
         cross join unnest(tsvector_to_array(m.tsv)) x(lexeme)
         where x.lexeme = any (:named)
            or exists (select from asked a
                        where left(x.lexeme, 1) = a.first and length(x.lexeme) between a.shortest and a.longest)
         group by 1, 2) known
 group by 1
