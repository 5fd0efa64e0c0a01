-- The named namespaces without any node, and up to three existing ones with similar names, the most alike first. If all
-- are known, no others are read; else each costs a step in the index.
--
-- :namespaces text[]   :visible text[] those that may be named, with `a/*` for those below `a`, or null: any. Only their
-- ranges are read: under row-level security, the rows of other namespaces would be read and left out one by one.
--
-- Index: nodes_namespace_created_at_idx
with recursive asked as materialized (
    select distinct u.namespace
      from unnest(:namespaces::text[]) u(namespace)
     where not exists (select from htm.nodes n where n.namespace = u.namespace)
), ranges as (
    select b.first, case when b.is_above then b.first || chr(1114111) else b.first end as last
      from (select s.namespace like '_%/*' as is_above,
                   case when s.namespace like '_%/*' then left(s.namespace, -1) else s.namespace end as first
              from unnest(:visible::text[]) s(namespace)) b
    union all
    select '', chr(1114111) where :visible::text[] is null
), there as (
    select (select min(n.namespace) from htm.nodes n where n.namespace between r.first and r.last) as namespace, r.last
      from ranges r
     where exists (select from asked)
    union all
    select (select min(n.namespace) from htm.nodes n where n.namespace > t.namespace and n.namespace <= t.last), t.last
      from there t
     where t.namespace is not null
)
select a.namespace,
       array(select t.namespace
               from (select distinct there.namespace from there) t
              where t.namespace is not null and (:visible::text[] is null or htm.is_within(t.namespace, :visible))
              order by similarity(t.namespace, a.namespace) desc, t.namespace
              limit 3) as nearest
  from asked a
 order by 1
