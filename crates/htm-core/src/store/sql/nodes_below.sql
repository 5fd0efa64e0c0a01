-- Live nodes that have a tag or one below it, the newest first, each once: a page. `data` is above `data:x`, not above
-- `database`: `;` is the character after `:`. Of each tag, only as many are read as the page may have.
--
-- $1 text namespace   $2 text tag   $3 bigint before this node   $4 bigint how many
--
-- Index: tags_namespace_path_key, node_tags_tag_idx, nodes_pk
select n.id as node, n.content
  from (select distinct a.node_id
          from htm.tags t
         cross join lateral (select a.node_id
                               from htm.node_tags a
                               join htm.nodes live on live.id = a.node_id and live.deleted_at is null
                              where a.tag_id = t.id and a.node_id < $3
                              order by a.node_id desc
                              limit $4) a
         where t.namespace = $1 and (t.path = $2 or (t.path > $2 || ':' and t.path < $2 || ';'))
         order by a.node_id desc
         limit $4) page
  join htm.nodes n on n.id = page.node_id
 order by n.id desc
