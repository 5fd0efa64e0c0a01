-- Tags that only erased nodes had, without description, synonym, split, distinction, logged change or child tag. Deletes
-- them, or only counts them.
--
-- :erasure bigint   :namespace text   :deleting boolean
--
-- Index: erasures_pk, tags_pk, node_tags_tag_idx, tag_synonyms_tag_idx, tags_namespace_path_key
with lone as materialized (
    select t.id
      from htm.erasures e
     cross join lateral unnest(e.tags) had(id)
      join htm.tags t on t.id = had.id
     where e.id = :erasure and t.namespace = :namespace and t.description is null and t.split_into is null
       and t.distinct_from is null
       and not exists (select from htm.node_tags nt where nt.tag_id = t.id)
       and not exists (select from htm.tag_synonyms s where s.tag_id = t.id)
       and not exists (select from htm.tags b
                        where b.namespace = t.namespace and b.path >= t.path || ':' and b.path < t.path || ';')
       and not exists (select from htm.tags s where s.namespace = t.namespace 
                          and (t.path = any (s.split_into) or t.path = any (s.distinct_from)))
       and not exists (select from htm.tag_changes c
                         join htm.tag_change_names n on n.change_id = c.id
                        where c.namespace = t.namespace and n.path = t.path)
), gone as (
    delete from htm.tags t using lone where :deleting and t.id = lone.id
)
select count(*) from lone
