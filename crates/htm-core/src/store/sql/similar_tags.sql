-- Tags that are written nearly as a text: the whole name, its last level, or another name of it; trigrams that both have,
-- from 0.3 (pg_trgm.similarity_threshold), the nearest first.
--
-- :namespace text namespace   :text text   :limit bigint how many
--
-- Index: tags_path_trigram_idx, tags_leaf_trigram_idx, tag_synonyms_pk
select tag, max(similarity) as similarity
  from (select path as tag, greatest(similarity(path, :text), similarity(substring(path from '[^:]*$'), :text)) as similarity
          from htm.tags
         where namespace = :namespace and (path % :text or substring(path from '[^:]*$') % :text)
        union all
        select t.path, similarity(s.path, :text)
          from htm.tag_synonyms s
          join htm.tags t on t.id = s.tag_id
         where s.namespace = :namespace and s.path % :text) alike
 group by tag
 order by similarity desc, tag
 limit :limit
