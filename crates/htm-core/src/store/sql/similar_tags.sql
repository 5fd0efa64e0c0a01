-- Tags that are written nearly as a text: the whole name, its last level, or another name of it; trigrams that both have,
-- from 0.3 (pg_trgm.similarity_threshold), the nearest first.
--
-- $1 text namespace   $2 text   $3 bigint how many
--
-- Index: tags_path_trigram_idx, tags_leaf_trigram_idx, tag_synonyms_pk
select tag, max(similarity) as similarity
  from (select path as tag, greatest(similarity(path, $2), similarity(substring(path from '[^:]*$'), $2)) as similarity
          from htm.tags
         where namespace = $1 and (path % $2 or substring(path from '[^:]*$') % $2)
        union all
        select t.path, similarity(s.path, $2)
          from htm.tag_synonyms s
          join htm.tags t on t.id = s.tag_id
         where s.namespace = $1 and s.path % $2) alike
 group by tag
 order by similarity desc, tag
 limit $3
