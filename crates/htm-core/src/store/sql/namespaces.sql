-- Namespaces with live nodes in order, one step in the index for each.
--
-- :from text inclusive   :after text exclusive   :until text or null, exclusive   :limit bigint
--
-- Index: nodes_namespace_created_at_idx
with recursive found as (
    (select namespace from htm.nodes
      where namespace >= :from and namespace > :after and (:until::text is null or namespace < :until)
      order by namespace limit 1)
    union all
    select (select n.namespace from htm.nodes n
             where n.namespace > f.namespace and (:until::text is null or n.namespace < :until)
             order by n.namespace limit 1)
      from found f
     where f.namespace is not null
)
select f.namespace
  from found f
 where f.namespace is not null
   and exists (select from htm.nodes n where n.namespace = f.namespace and n.deleted_at is null)
 limit :limit
