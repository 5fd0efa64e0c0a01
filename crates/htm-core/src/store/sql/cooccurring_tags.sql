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
    select a.node_id, a.tag_id, t.path
      from tag t
      join htm.node_tags a on a.tag_id = t.id
     where not exists (select from forgotten f where f.id = a.node_id)
       and ($2::text is null
            or exists (select from tag it
                         join htm.node_tags its on its.tag_id = it.id
                        where it.path = $2 and its.node_id = a.node_id))
), pair as (
    select a.tag_id as a, b.tag_id as b, a.path as tag, b.path as other, count(*) as nodes
      from assigned a
      join assigned b on b.node_id = a.node_id and b.tag_id <> a.tag_id
     where case when $2::text is null then a.path < b.path else a.path = $2 end
       and not starts_with(b.path, a.path || ':') and not starts_with(a.path, b.path || ':')
     group by 1, 2, 3, 4
    having count(*) >= $3
), size as (
    select a.tag_id, count(*) as nodes
      from htm.node_tags a
     where a.tag_id in (select a from pair union select b from pair)
       and not exists (select from forgotten f where f.id = a.node_id)
     group by a.tag_id
)
select p.tag, p.other, p.nodes, x.nodes as tag_nodes, y.nodes as other_nodes,
       (p.nodes::real / (x.nodes + y.nodes - p.nodes))::real as jaccard
  from pair p
  join size x on x.tag_id = p.a
  join size y on y.tag_id = p.b
 where $5::real is null or p.nodes::real / (x.nodes + y.nodes - p.nodes) >= $5
 order by case when $5::real is null then p.nodes end desc, jaccard desc, p.tag, p.other
 limit $4
