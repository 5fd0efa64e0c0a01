-- What happened in a timeframe, or about a topic: the latest nodes of a namespace that pass the filters, the latest
-- first. A tag of at most 20,000 nodes is read whole, and of several that are needed the rarest, of at most 100,000; others
-- are met soon enough on the way back in time.
--
-- $1 text namespace             $2 timestamptz from, inclusive, or null   $3 timestamptz until, exclusive, or null
-- $4 timestamptz[] where each of several ranges starts, or null: there is one, from $2 until $3   $5 where each ends
-- $6 text[] robots or null      $7 text session or null                   $8 int limit
-- $9 text[] tags or null        $10 boolean[] each as a prefix            $11 int how many of them a node must have
-- $12 jsonb object that a node's metadata must contain, or null
--
-- Index: nodes_namespace_created_at_idx; nodes_session_idx when a session is asked for; node_tags_tag_idx;
-- node_tags_pk
with several as materialized (
    select range_agg(tstzrange(r.since, r.until)) as ranges
      from unnest($4::timestamptz[], $5::timestamptz[]) r(since, until)
),
tag_scope as materialized (
    {{tags:$9,$10}}
),
counted as materialized (
    select o.ord, c.nodes
      from (select distinct ord from tag_scope) o
     cross join lateral (select count(*) as nodes
                           from (select from tag_scope s join htm.node_tags nt on nt.tag_id = s.id
                                  where s.ord = o.ord limit 100001) n) c
),
-- Of all that are needed the rarest; of any, each: and whether it is read whole.
start as materialized (
    select s.ord, sum(s.nodes) over () <= case when $11 > 1 then 100000 else 20000 end as whole
      from (select ord, nodes from counted order by nodes, ord limit case when $11 > 1 then 1 end) s
),
few as materialized (
    select distinct nt.node_id
      from start
      join tag_scope s on s.ord = start.ord
      join htm.node_tags nt on nt.tag_id = s.id
     where start.whole
),
tagged as (
    select m.id
      from (select node_id from few where $11 = 1
            union all
            select f.node_id
              from few f
              join htm.node_tags nt
                on nt.node_id = f.node_id
               and nt.tag_id = any (array(select id from tag_scope where ord <> (select min(ord) from start)))
              join tag_scope s on s.id = nt.tag_id
             where $11 > 1 and s.ord <> (select min(ord) from start)
             group by f.node_id having count(distinct s.ord) >= $11 - 1) f
      join htm.nodes m on m.id = f.node_id
     where {{wanted}}
     order by m.created_at desc, m.seq desc nulls first, m.id desc
     limit $8
),
latest as (
    select m.id
      from htm.nodes m
     where ($9::text[] is null
            or $11 <= (select count(distinct s.ord) from htm.node_tags nt join tag_scope s on s.id = nt.tag_id
                        where nt.node_id = m.id))
       and {{wanted}}
     order by m.created_at desc, m.seq desc nulls first, m.id desc
     limit case when $9::text[] is null or (select not bool_and(whole) from start) then $8 else 0 end
)
select {{node}}
  from (select id from tagged where $9::text[] is not null union all select id from latest) found
  -- One by one: nobody knows how few there are.
 cross join lateral (select n.* from htm.nodes n where n.id = found.id limit 1) m
  join htm.robots r on r.id = m.robot_id
 order by m.created_at desc, m.seq desc nulls first, m.id desc
