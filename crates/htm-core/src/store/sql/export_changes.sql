-- A page of the changes of ontologies, in the order of namespace and number, so that a change comes before the one that
-- reverted it.
--
-- :namespaces text[] or null for all   :namespace text, :change bigint: the last change of the page before
-- :limit bigint
--
-- Index: tag_changes_namespace_idx, tag_changes_pk
select c.id, c.namespace, c.kind, c.details, c.made_by, c.made_at, c.nodes,
       case when c.kind = 'revert' then (select u.id from htm.tag_changes u
                                          where u.id = (c.details ->> 'change')::bigint and u.reverted_by = c.id)
       end as reverts
  from htm.tag_changes c
 where (:namespaces::text[] is null or c.namespace = any (:namespaces))
   and (c.namespace, c.id) > (:namespace, :change)
 order by c.namespace, c.id
 limit :limit
