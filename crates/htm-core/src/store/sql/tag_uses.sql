-- The tags of a namespace with how many live nodes have each, and how many have it or one below it, each node once. A
-- second for a million assignments.
--
-- $1 text namespace   $2 text only this tag and those below it, or null
--
-- Index: tags_namespace_path_key, node_tags_tag_idx, nodes_deleted_at_idx
with tag as materialized (
    select id, path, description, split_into, created_at
      from htm.tags
     where namespace = $1 and ($2::text is null or path = $2 or (path > $2 || ':' and path < $2 || ';'))
), forgotten as materialized (
    select id from htm.nodes where namespace = $1 and deleted_at is not null
), assigned as (
    select a.node_id, a.tag_id, a.created_at
      from tag t
      join htm.node_tags a on a.tag_id = t.id
     where not exists (select from forgotten f where f.id = a.node_id)
), within as (
    select t.id, above.path
      from tag t
     cross join lateral htm.tag_lineage(t.path) above(path)
), own as (
    select tag_id, count(*) as nodes, max(created_at) as last_used from assigned group by tag_id
), total as (
    select w.path, count(distinct a.node_id) as nodes
      from within w
      join assigned a on a.tag_id = w.id
     group by w.path
)
select t.path as tag, t.description, coalesce(t.split_into, '{}') as split_into, t.created_at,
       coalesce(o.nodes, 0) as nodes, coalesce(s.nodes, 0) as total, o.last_used
  from tag t
  left join own o on o.tag_id = t.id
  left join total s on s.path = t.path
 order by string_to_array(t.path, ':') collate "C"
