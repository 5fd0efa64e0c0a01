-- Names that a tagger must not assign as they are: synonyms, split tags, removed tags. A synonym comes with its tag, a
-- split tag with its parts. A removed tag counts until its name is used again.
--
-- :namespace text
--
-- Index: tag_synonyms_pk, tags_namespace_path_key, tag_changes_namespace_idx, tag_change_names_pk
select s.path as name, t.path as tag, null::text[] as split_into, null::text as split_rest
  from htm.tag_synonyms s
  join htm.tags t on t.id = s.tag_id
 where s.namespace = :namespace
union all
select path, null, split_into, split_rest from htm.tags where namespace = :namespace and split_into is not null
union all
select distinct n.path, null, null::text[], null
  from htm.tag_changes c
  join htm.tag_change_names n on n.change_id = c.id and n.before ? 'tag' and n.after is null
 where c.namespace = :namespace and c.reverted_by is null
   -- A removal, or one that was done again; who takes back a template leaves its terms to the tagger.
   and (c.kind = 'remove' or (c.kind = 'revert' and c.details ->> 'kind' = 'revert'))
   and not exists (select from htm.tags t where t.namespace = :namespace and t.path = n.path)
   and not exists (select from htm.tag_synonyms s where s.namespace = :namespace and s.path = n.path)
