-- Pairs of tags whose last levels are written alike: trigrams that both have, from pg_trgm.similarity_threshold. A tag
-- and one below it are no pair. Last levels are compared once, however many tags have them.
--
-- :namespace text namespace   :limit bigint how many
--
-- Index: tags_namespace_path_key, tags_leaf_trigram_idx
with tag as materialized (
    select path, substring(path from '[^:]*$') as leaf from htm.tags where namespace = :namespace
), leaf as materialized (
    select distinct leaf from tag
), alike as (
    select a.leaf as a, b.leaf as b, similarity(a.leaf, b.leaf) as similarity
      from leaf a
      join leaf b on a.leaf <= b.leaf and (a.leaf = b.leaf or a.leaf % b.leaf)
)
select x.path as tag, y.path as other, l.similarity
  from alike l
  join tag x on x.leaf = l.a
  join tag y on y.leaf = l.b and (l.a <> l.b or x.path < y.path)
 where not starts_with(y.path, x.path || ':') and not starts_with(x.path, y.path || ':')
 order by l.similarity desc, similarity(x.path, y.path) desc, x.path, y.path
 limit :limit
