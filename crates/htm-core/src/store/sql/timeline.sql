-- The latest nodes of a namespace that pass a filter, the latest first. A tag of at most 20,000 nodes is read whole, and of
-- several that are needed the rarest, of at most 100,000; others are met soon enough on the way back in time.
--
-- :namespace text   :limit bigint   conditions on the node m, but for namespace and tags
-- :tags bigint[]    :places int[] the condition that each tag belongs to
-- :needed bigint    conditions on tags: a node must have a tag of each
--
-- Index: nodes_namespace_created_at_idx; nodes_session_idx when a session is asked for; node_tags_tag_idx;
-- node_tags_pk
with tag_scope as materialized (
    select s.id, s.place from unnest(:tags::bigint[], :places::int[]) s(id, place)
),
counted as materialized (
    select o.place, c.nodes
      from (select distinct place from tag_scope) o
     cross join lateral (select count(*) as nodes
                           from (select from tag_scope s join htm.node_tags nt on nt.tag_id = s.id
                                  where s.place = o.place limit 100001) n) c
),
-- The rarest, and whether it is read whole.
start as materialized (
    select s.place, s.nodes <= case when :needed > 1 then 100000 else 20000 end as whole
      from (select place, nodes from counted order by nodes, place limit 1) s
),
few as materialized (
    select distinct nt.node_id
      from start
      join tag_scope s on s.place = start.place
      join htm.node_tags nt on nt.tag_id = s.id
     where start.whole
),
tagged as (
    select m.id
      from (select node_id from few where :needed = 1
            union all
            select f.node_id
              from few f
              join htm.node_tags nt
                on nt.node_id = f.node_id and nt.namespace = :namespace
               and nt.tag_id = any (array(select id from tag_scope where place <> (select place from start)))
              join tag_scope s on s.id = nt.tag_id
             where :needed > 1 and s.place <> (select place from start)
             group by f.node_id having count(distinct s.place) >= :needed - 1) f
      join htm.nodes m on m.id = f.node_id
     where m.namespace = :namespace and {{conditions}}
     order by m.created_at desc, m.seq desc nulls first, m.id desc
     limit :limit
),
latest as (
    select m.id
      from htm.visible_nodes m
     where (:needed = 0
            or :needed <= (select count(distinct s.place) from htm.node_tags nt join tag_scope s on s.id = nt.tag_id
                            where nt.node_id = m.id and nt.namespace = m.namespace))
       and m.namespace = :namespace and {{conditions}}
     order by m.created_at desc, m.seq desc nulls first, m.id desc
     limit case when :needed = 0 or not (select whole from start) then :limit else 0 end
)
select {{node}}
  from (select id from tagged where :needed > 0 union all select id from latest) found
  -- One by one: nobody knows how few there are.
 cross join lateral (select n.* from htm.nodes n where n.id = found.id and n.namespace = :namespace limit 1) m
  join htm.robots r on r.id = m.robot_id
 order by m.created_at desc, m.seq desc nulls first, m.id desc
