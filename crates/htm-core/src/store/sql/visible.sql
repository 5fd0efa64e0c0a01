-- A condition of recall.sql: the node m is not forgotten and passes the filters by robots ($7), session ($20),
-- metadata ($29) and tags ($4, $6).
       m.deleted_at is null
       and ($7::text[] is null or m.robot_id in (select id from htm.robots where namespace = any ($1) and name = any ($7)))
       and ($20::text is null or (md5(m.session) = md5($20) and m.session = $20))
       and ($29::jsonb is null or (m.metadata @> $29 and m.metadata <> '{}'))
       and ($4::text[] is null
            or $6 <= (select count(distinct s.ord) from htm.node_tags nt join tag_scope s on s.id = nt.tag_id
                       where nt.node_id = m.id))
