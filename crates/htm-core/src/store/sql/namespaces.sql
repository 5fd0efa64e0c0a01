-- A page of the namespaces with live nodes, in order: one step in the index for each.
--
-- :from text inclusive   :after text exclusive   :until text or null, exclusive   :limit bigint
--
-- Only namespaces with live nodes count as steps, so the steps end with the page; a limit outside would depend on the
-- plan's order. A sub-select with a limit checks each namespace, because `exists` may read all nodes.
--
-- Index: nodes_namespace_created_at_idx
with recursive found as (
    (select n.namespace, a.is_alive, a.is_alive::int::bigint as living
       from (select namespace from htm.nodes
              where namespace >= :from and namespace > :after and (:until::text is null or namespace < :until)
              order by namespace limit 1) n
      cross join lateral (
          select coalesce((select true from htm.nodes l
                            where l.namespace = n.namespace and l.deleted_at is null limit 1), false) as is_alive
      ) a)
    union all
    select n.namespace, a.is_alive, f.living + a.is_alive::int
      from found f
     cross join lateral (
         select namespace from htm.nodes
          where namespace > f.namespace and (:until::text is null or namespace < :until)
          order by namespace limit 1
     ) n
     cross join lateral (
         select coalesce((select true from htm.nodes l
                           where l.namespace = n.namespace and l.deleted_at is null limit 1), false) as is_alive
     ) a
     where f.living < :limit
)
select namespace from found where is_alive order by living
