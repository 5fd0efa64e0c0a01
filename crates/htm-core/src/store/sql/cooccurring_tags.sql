-- Pairs of tags with common live nodes, the most frequent first. A tag and a tag below it are no pair.
--
-- :namespace text   :tag text only pairs with this tag, or null   :min_nodes bigint   :limit bigint
-- :min_jaccard real the least share of nodes with both among nodes with either, or null
-- nodes: the nodes that are counted; with not: the nodes that are not
--
-- Index: tags_namespace_path_key, node_tags_tag_idx, node_tags_pk; nodes_deleted_at_idx, or those of the conditions
with tag as materialized (
    select id, path from htm.tags where namespace = :namespace
), listed as materialized (
    {{nodes}}
), assigned as materialized (
    select a.node_id, a.tag_id
      from tag t
      join htm.node_tags a on a.tag_id = t.id
     where {{not}} exists (select from listed l where l.id = a.node_id)
       and (:tag::text is null
            or a.node_id in (select its.node_id
                               from tag it
                               join htm.node_tags its on its.tag_id = it.id
                              where it.path = :tag))
), pair as materialized (
    -- By numbers: they are compared millions of times.
    select a.tag_id as a, b.tag_id as b, count(*) as nodes
      from assigned a
      join assigned b on b.node_id = a.node_id and a.tag_id < b.tag_id
     group by 1, 2
    having count(*) >= :min_nodes
), named as (
    select x.id as tag_id, y.id as other_id, x.path as tag, y.path as other, p.nodes
      from (select a, b, nodes from pair union all select b, a, nodes from pair) p
      join tag x on x.id = p.a
      join tag y on y.id = p.b
     where case when :tag::text is null then x.path < y.path else x.path = :tag end
       and not starts_with(y.path, x.path || ':') and not starts_with(x.path, y.path || ':')
), size as (
    select a.tag_id, count(*) as nodes
      from htm.node_tags a
     where a.tag_id in (select tag_id from named union select other_id from named)
       and {{not}} exists (select from listed l where l.id = a.node_id)
     group by a.tag_id
)
select n.tag, n.other, n.nodes, x.nodes as tag_nodes, y.nodes as other_nodes,
       (n.nodes::real / (x.nodes + y.nodes - n.nodes))::real as jaccard
  from named n
  join size x on x.tag_id = n.tag_id
  join size y on y.tag_id = n.other_id
 where :min_jaccard::real is null or n.nodes::real / (x.nodes + y.nodes - n.nodes) >= :min_jaccard
 order by case when :min_jaccard::real is null then n.nodes end desc, jaccard desc, n.tag, n.other
 limit :limit
