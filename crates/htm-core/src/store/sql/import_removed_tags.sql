-- Logs the removal of tags of an export, so that taggers leave them out; gives the names. A name that is a tag or a
-- synonym here, or is logged as removed already, is passed over.
--
-- :namespace text, whose changes of names the caller has locked   :paths text[]   :made_by text
--
-- Index: tags_namespace_path_key, tag_synonyms_pk, tag_changes_namespace_idx, tag_change_names_pk
with gone as materialized (
    select distinct u.path
      from unnest(:paths::text[]) u(path)
     where not exists (select from htm.tags t where t.namespace = :namespace and t.path = u.path)
       and not exists (select from htm.tag_synonyms s where s.namespace = :namespace and s.path = u.path)
       and not exists (select from htm.tag_changes c
                         join htm.tag_change_names n on n.change_id = c.id and n.path = u.path
                          and n.before ? 'tag' and n.after is null
                        where c.namespace = :namespace and c.kind = 'remove' and c.reverted_by is null)
), change as (
    insert into htm.tag_changes (namespace, kind, details, made_by, made_at)
    select :namespace, 'remove', jsonb_build_object('tag', min(path), 'source', 'an export'), :made_by, clock_timestamp()
      from gone having count(*) > 0
    returning id
)
insert into htm.tag_change_names (change_id, namespace, path, before)
select c.id, :namespace, g.path, '{"tag": {"description": null}}' from change c cross join gone g
returning path
