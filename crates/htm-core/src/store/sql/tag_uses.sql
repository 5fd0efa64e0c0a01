-- The tags of a namespace with how many live nodes have each, and how many have it or one below it, each node once. Two
-- seconds for a million assignments (3.9 s on two loaded cores).
--
-- $1 text namespace   $2 text only this tag and those below it, or null
--
-- Index: tags_namespace_path_key, node_tags_tag_idx, nodes_deleted_at_idx
with tag as materialized (
    select id, path, description, split_into, created_at
      from htm.tags
     where namespace = $1 and ($2::text is null or path = $2 or (path > $2 || ':' and path < $2 || ';'))
), within as materialized (
    -- By numbers from here on: they are compared a million times.
    select t.id, above.id as above
      from tag t
     cross join lateral htm.tag_lineage(t.path) l(path)
      join tag above on above.path = l.path
), forgotten as materialized (
    select id from htm.nodes where namespace = $1 and deleted_at is not null
), counted as (
    select w.above as id, count(distinct a.node_id) as total, count(*) filter (where w.id = w.above) as nodes,
           max(a.created_at) filter (where w.id = w.above) as last_used
      from within w
      join htm.node_tags a on a.tag_id = w.id
     where not exists (select from forgotten f where f.id = a.node_id)
     group by w.above
)
select t.path as tag, t.description, coalesce(t.split_into, '{}') as split_into, t.created_at,
       coalesce(c.nodes, 0) as nodes, coalesce(c.total, 0) as total, c.last_used
  from tag t
  left join counted c on c.id = t.id
 order by string_to_array(t.path, ':') collate "C"
