-- The exact terms and prefixes of a query that nodes have, with their counts. `offset 0` keeps the planner from merging
-- the subquery: nodes are looked up by id, one by one.
--
-- :nodes bigint[]   :queries tsquery[] or null each   :patterns text[]   :prefixes boolean[]
--
-- Index: nodes_pk
select m.id, s.ord - 1 as place, case when s.is_prefix then regexp_count(m.content, s.pattern, 1, 'i') else 1 end::float8 as count
  from unnest(:nodes::bigint[]) c(id)
 cross join lateral (select n.id, n.tsv, htm.folded(n.content) as content from htm.nodes n where n.id = c.id{{of_n}} offset 0) m
 cross join unnest(:queries::tsquery[], :patterns::text[], :prefixes::boolean[])
            with ordinality s(query, pattern, is_prefix, ord)
 where (s.query is null or m.tsv @@ s.query) and m.content ~* s.pattern
