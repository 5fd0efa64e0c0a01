-- The named namespaces without any node, and up to three existing ones with similar names, the most alike first. If all
-- are known, no others are read; else each costs a step in the index.
--
-- :namespaces text[]   :visible text[] those that may be named, with `a/*` for those below `a`, or null: any
--
-- Index: nodes_namespace_created_at_idx
with recursive asked as materialized (
    select distinct u.namespace
      from unnest(:namespaces::text[]) u(namespace)
     where not exists (select from htm.nodes n where n.namespace = u.namespace)
), there as (
    select (select min(n.namespace) from htm.nodes n) as namespace where exists (select from asked)
    union all
    select (select min(n.namespace) from htm.nodes n where n.namespace > t.namespace)
      from there t
     where t.namespace is not null
)
select a.namespace,
       array(select t.namespace
               from there t
              where t.namespace is not null and (:visible::text[] is null or htm.is_within(t.namespace, :visible))
              order by similarity(t.namespace, a.namespace) desc, t.namespace
              limit 3) as nearest
  from asked a
 order by 1
