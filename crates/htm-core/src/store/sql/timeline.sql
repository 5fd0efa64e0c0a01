-- What happened in a timeframe: the latest nodes of a namespace that pass the filters, the latest first.
--
-- $1 text namespace             $2 timestamptz from, inclusive, or null   $3 timestamptz until, exclusive, or null
-- $4 timestamptz[] where each of several ranges starts, or null: there is one, from $2 until $3   $5 where each ends
-- $6 text robot's name or null  $7 text session or null                   $8 int limit
--
-- Index: nodes_namespace_created_at_idx; nodes_session_idx when a session is asked for
with several as materialized (
    select range_agg(tstzrange(r.since, r.until)) as ranges
      from unnest($4::timestamptz[], $5::timestamptz[]) r(since, until)
)
select {{node}}
  from htm.nodes m
  join htm.robots r on r.id = m.robot_id
 where m.namespace = $1 and m.deleted_at is null
   and ($2::timestamptz is null or m.created_at >= $2)
   and ($3::timestamptz is null or m.created_at < $3)
   and ($4::timestamptz[] is null or (select ranges from several) @> m.created_at)
   and ($6::text is null or m.robot_id in (select id from htm.robots where namespace = $1 and name = $6))
   and ($7::text is null or (md5(m.session) = md5($7) and m.session = $7))
 order by m.created_at desc, m.seq desc nulls first, m.id desc
 limit $8
