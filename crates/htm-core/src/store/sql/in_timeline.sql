-- A condition of timeline.sql: the node m passes the filters that are not tags.
m.namespace = $1 and m.deleted_at is null
       and ($2::timestamptz is null or m.created_at >= $2)
       and ($3::timestamptz is null or m.created_at < $3)
       and ($4::timestamptz[] is null or (select ranges from several) @> m.created_at)
       and ($6::text[] is null or m.robot_id in (select id from htm.robots where namespace = $1 and name = any ($6)))
       and ($7::text is null or (md5(m.session) = md5($7) and m.session = $7))
       and ($12::jsonb is null or m.metadata @> $12)
