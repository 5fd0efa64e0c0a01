-- The tags with the most live nodes, and how many tags have any. Counts the assignments in the index (three million in
-- a second) and takes off those of forgotten nodes, so that no live node is read.
--
-- :namespace text, or null for all   :top bigint how many
--
-- Index: node_tags_tag_idx, nodes_deleted_at_idx, node_tags_pk
with tag as (
    select id, namespace, path from htm.tags where :namespace::text is null or namespace = :namespace
), counted as (
    select tag_id, count(*) as nodes from htm.node_tags where tag_id in (select id from tag) group by tag_id
), forgotten as (
    select a.tag_id, count(*) as nodes
      from htm.nodes n
      join htm.node_tags a on a.node_id = n.id and a.namespace = n.namespace
     where n.deleted_at is not null and (:namespace::text is null or n.namespace = :namespace)
     group by a.tag_id
)
select t.namespace, t.path, c.nodes - coalesce(f.nodes, 0) as nodes, count(*) over () as tags
  from tag t
  join counted c on c.tag_id = t.id
  left join forgotten f on f.tag_id = t.id
 where c.nodes > coalesce(f.nodes, 0)
 order by nodes desc, t.namespace, t.path
 limit :top
