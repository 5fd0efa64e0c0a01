-- A page of tags with their synonyms, in the order of namespace and path. Tags that were split are pages of their own,
-- because they name others.
--
-- :namespaces text[] or null for all   :are_split bool   :namespace text, :path text: the last tag of the page before
-- :limit bigint
--
-- Index: tags_namespace_path_key, tag_synonyms_tag_idx
select t.namespace, t.path, t.description, coalesce(t.split_into, '{}') as split_into, t.split_rest,
       coalesce(t.distinct_from, '{}') as distinct_from, t.created_at,
       array(select s.path from htm.tag_synonyms s where s.tag_id = t.id order by s.path) as synonyms
  from htm.tags t
 where (:namespaces::text[] is null or t.namespace = any (:namespaces)) and (t.split_into is not null) = :are_split
   and (t.namespace, t.path) > (:namespace, :path)
 order by t.namespace, t.path
 limit :limit
