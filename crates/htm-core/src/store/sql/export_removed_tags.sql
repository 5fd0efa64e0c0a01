-- A page of the names of removed tags that nobody has used since, in the order of namespace and name: those that
-- former_names.sql keeps from taggers.
--
-- :namespaces text[] or null for all   :namespace text, :path text: the last name of the page before   :limit bigint
--
-- Index: tag_changes_namespace_idx, tag_change_names_pk, tags_namespace_path_key, tag_synonyms_pk
select distinct c.namespace, n.path
  from htm.tag_changes c
  join htm.tag_change_names n on n.change_id = c.id and n.before ? 'tag' and n.after is null
 where (:namespaces::text[] is null or c.namespace = any (:namespaces)) and (c.namespace, n.path) > (:namespace, :path)
   and c.reverted_by is null and (c.kind = 'remove' or (c.kind = 'revert' and c.details ->> 'kind' = 'revert'))
   and not exists (select from htm.tags t where t.namespace = c.namespace and t.path = n.path)
   and not exists (select from htm.tag_synonyms s where s.namespace = c.namespace and s.path = n.path)
 order by c.namespace, n.path
 limit :limit
