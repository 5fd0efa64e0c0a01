-- The tags of a namespace with two numbers of nodes: those with the tag, and those with it or one below it, each node
-- once. They are read from the index alone, tag by tag.
--
-- :namespace text   :below text only this tag and those below it, or null
-- nodes: the nodes that are counted; with not: the nodes that are not
--
-- Index: tags_namespace_path_key, node_tags_tag_idx; nodes_deleted_at_idx, or those of the conditions
with tag as materialized (
    select id, path, description, split_into, distinct_from, created_at
      from htm.tags
     where namespace = :namespace and (:below::text is null or path = :below or (path > :below || ':' and path < :below || ';'))
), listed as materialized (
    {{nodes}}
), own as materialized (
    select t.id, o.nodes, o.last_used
      from tag t
     cross join lateral (select count(*) as nodes, max(a.created_at) as last_used
                           from htm.node_tags a
                          where a.tag_id = t.id and {{not}} a.node_id in (select id from listed)) o
), above as materialized (
    -- By numbers from here on: they are compared a million times.
    select t.id, above.id as above
      from tag t
     cross join lateral htm.tag_lineage(t.path) l(path)
      join tag above on above.path = l.path and above.id <> t.id
), below as materialized (
    select b.id, c.total
      from (select distinct above as id from above) b
     cross join lateral (select count(distinct a.node_id) as total
                           from (select b.id union all select w.id from above w where w.above = b.id) w
                          cross join lateral (select a.node_id
                                                from htm.node_tags a
                                               where a.tag_id = w.id and {{not}} a.node_id in (select id from listed)
                                              offset 0) a) c
)
select t.path as tag, t.description, coalesce(t.split_into, '{}') as split_into,
       coalesce(t.distinct_from, '{}') as distinct_from, t.created_at, o.nodes, coalesce(b.total, o.nodes) as total, o.last_used
  from tag t
  join own o on o.id = t.id
  left join below b on b.id = t.id
 order by string_to_array(t.path, ':') collate "C"
