-- Pairs of tags that stand on the same live nodes, those with the most first. A tag and one below it are no pair.
--
-- $1 text namespace   $2 text only pairs with this tag, or null   $3 bigint the least nodes   $4 bigint how many
-- $5 real the least share of the nodes of both that have both (Jaccard), or null
--
-- Index: tags_namespace_path_key, node_tags_tag_idx, node_tags_pk, nodes_deleted_at_idx
with tag as materialized (
    select id, path from htm.tags where namespace = $1
), forgotten as materialized (
    select id from htm.nodes where namespace = $1 and deleted_at is not null
), assigned as materialized (
    select a.node_id, a.tag_id
      from tag t
      join htm.node_tags a on a.tag_id = t.id
     where not exists (select from forgotten f where f.id = a.node_id)
       and ($2::text is null
            or a.node_id in (select its.node_id
                               from tag it
                               join htm.node_tags its on its.tag_id = it.id
                              where it.path = $2))
), pair as materialized (
    -- By numbers: they are compared millions of times.
    select a.tag_id as a, b.tag_id as b, count(*) as nodes
      from assigned a
      join assigned b on b.node_id = a.node_id and a.tag_id < b.tag_id
     group by 1, 2
    having count(*) >= $3
), named as (
    select x.id as tag_id, y.id as other_id, x.path as tag, y.path as other, p.nodes
      from (select a, b, nodes from pair union all select b, a, nodes from pair) p
      join tag x on x.id = p.a
      join tag y on y.id = p.b
     where case when $2::text is null then x.path < y.path else x.path = $2 end
       and not starts_with(y.path, x.path || ':') and not starts_with(x.path, y.path || ':')
), size as (
    select a.tag_id, count(*) as nodes
      from htm.node_tags a
     where a.tag_id in (select tag_id from named union select other_id from named)
       and not exists (select from forgotten f where f.id = a.node_id)
     group by a.tag_id
)
select n.tag, n.other, n.nodes, x.nodes as tag_nodes, y.nodes as other_nodes,
       (n.nodes::real / (x.nodes + y.nodes - n.nodes))::real as jaccard
  from named n
  join size x on x.tag_id = n.tag_id
  join size y on y.tag_id = n.other_id
 where $5::real is null or n.nodes::real / (x.nodes + y.nodes - n.nodes) >= $5
 order by case when $5::real is null then n.nodes end desc, jaccard desc, n.tag, n.other
 limit $4
