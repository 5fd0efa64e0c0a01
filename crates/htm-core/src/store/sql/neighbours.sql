-- What was said around a node, in time order: in its session by place, else by time; without a session in its namespace.
-- `place` is below 0 before the node, above 0 after it.
--
-- :node bigint node   :before int how many before it   :after int how many after it
--
-- Index: nodes_pk; nodes_session_idx, or nodes_namespace_created_at_idx without a session
with self as materialized (
    select id, namespace, session, seq, created_at from htm.nodes where id = :node
),
earlier as (
    -- In each direction one of three: a conversation whose places are known, one whose are not, none at all.
    (select m.id, m.created_at, m.seq from self s
       join htm.nodes m on m.namespace = s.namespace and md5(m.session) = md5(s.session) and m.session = s.session and m.deleted_at is null
      where s.seq is not null and (m.seq, m.created_at, m.id) < (s.seq, s.created_at, s.id)
      order by m.seq desc, m.created_at desc, m.id desc limit :before)
    union all
    (select m.id, m.created_at, null from self s
       join htm.nodes m on m.namespace = s.namespace and md5(m.session) = md5(s.session) and m.session = s.session and m.deleted_at is null
      where s.seq is null and (m.created_at, m.id) < (s.created_at, s.id)
      order by m.created_at desc, m.id desc limit :before)
    union all
    (select near.id, near.created_at, null from self s
      cross join lateral (select m.id, m.created_at from htm.nodes m
                           where m.namespace = s.namespace and m.deleted_at is null
                             and (m.created_at, m.id) < (s.created_at, s.id)
                           order by m.created_at desc, m.id desc limit :before) near
      where s.session is null)
),
later as (
    (select m.id, m.created_at, m.seq from self s
       join htm.nodes m on m.namespace = s.namespace and md5(m.session) = md5(s.session) and m.session = s.session and m.deleted_at is null
      where s.seq is not null and (m.seq, m.created_at, m.id) > (s.seq, s.created_at, s.id)
      order by m.seq, m.created_at, m.id limit :after)
    union all
    (select m.id, m.created_at, null from self s
       join htm.nodes m on m.namespace = s.namespace and md5(m.session) = md5(s.session) and m.session = s.session and m.deleted_at is null
      where s.seq is null and (m.created_at, m.id) > (s.created_at, s.id)
      order by m.created_at, m.id limit :after)
    union all
    (select near.id, near.created_at, null from self s
      cross join lateral (select m.id, m.created_at from htm.nodes m
                           where m.namespace = s.namespace and m.deleted_at is null
                             and (m.created_at, m.id) > (s.created_at, s.id)
                           order by m.created_at, m.id limit :after) near
      where s.session is null)
),
placed as (
    select id, -row_number() over (order by seq desc, created_at desc, id desc) as place from earlier
    union all
    select id, row_number() over (order by seq, created_at, id) from later
)
select p.place,
       {{node}}
  from placed p
  join htm.nodes m on m.id = p.id
  join htm.robots r on r.id = m.robot_id
 order by p.place
