-- What happened in a timeframe, or about a topic: the latest nodes of a namespace that pass the filters, the latest
-- first. Tags of at most 5,000 nodes are read whole; others are met soon enough on the way back in time.
--
-- $1 text namespace             $2 timestamptz from, inclusive, or null   $3 timestamptz until, exclusive, or null
-- $4 timestamptz[] where each of several ranges starts, or null: there is one, from $2 until $3   $5 where each ends
-- $6 text robot's name or null  $7 text session or null                   $8 int limit
-- $9 text[] tags or null        $10 boolean[] each as a prefix            $11 int how many of them a node must have
--
-- $12 jsonb object that a node's metadata must contain, or null
--
-- Index: nodes_namespace_created_at_idx; nodes_session_idx when a session is asked for; node_tags_tag_idx
with several as materialized (
    select range_agg(tstzrange(r.since, r.until)) as ranges
      from unnest($4::timestamptz[], $5::timestamptz[]) r(since, until)
),
tag_scope as materialized (
    {{tags:$9,$10}}
),
few as materialized (
    select nt.node_id, s.ord from tag_scope s join htm.node_tags nt on nt.tag_id = s.id limit 5001
),
tagged as (
    select m.id
      from (select node_id from few where (select count(*) from few) <= 5000
             group by node_id having count(distinct ord) >= $11) f
      join htm.nodes m on m.id = f.node_id
     where {{wanted}}
     order by m.created_at desc, m.seq desc nulls first, m.id desc
     limit $8
),
latest as (
    select m.id
      from htm.nodes m
     where ($9::text[] is null
            or ((select count(*) from few) > 5000
                and $11 <= (select count(distinct s.ord) from htm.node_tags nt join tag_scope s on s.id = nt.tag_id
                             where nt.node_id = m.id)))
       and {{wanted}}
     order by m.created_at desc, m.seq desc nulls first, m.id desc
     limit case when $9::text[] is null or (select count(*) from few) > 5000 then $8 else 0 end
)
select {{node}}
  from (select id from tagged where $9::text[] is not null union all select id from latest) found
  join htm.nodes m on m.id = found.id
  join htm.robots r on r.id = m.robot_id
 order by m.created_at desc, m.seq desc nulls first, m.id desc
