-- Live nodes that have a tag or one below it, the newest first, each once: a page. `data` is above `data:x`, not above
-- `database`: `;` is the character after `:`. Of each tag, only as many are read as the page may have.
--
-- :namespace text namespace   :tag text tag   :before bigint before this node   :limit bigint how many
--
-- Index: tags_namespace_path_key, node_tags_tag_idx, nodes_deleted_at_idx, nodes_pk
with forgotten as materialized (
    select id from htm.nodes where namespace = :namespace and deleted_at is not null
), page as (
    select distinct a.node_id, t.namespace
      from htm.tags t
     cross join lateral (select a.node_id
                           from htm.node_tags a
                          where a.tag_id = t.id and a.node_id < :before
                            and not a.node_id in (select id from forgotten)
                          order by a.node_id desc
                          limit :limit) a
     where t.namespace = :namespace and (t.path = :tag or (t.path > :tag || ':' and t.path < :tag || ';'))
     order by a.node_id desc
     limit :limit
)
select n.id as node, n.content
  from page
  join htm.nodes n on n.id = page.node_id and n.namespace = page.namespace
 order by n.id desc
