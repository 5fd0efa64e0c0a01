-- The nodes around some nodes, in time order: in the session of each by place, else by time; without a session in its
-- namespace. `place` is below 0 before the node, above 0 after it.
--
-- :nodes bigint[]   :namespaces text[], those that they are in
-- :before int how many before each   :after int how many after each
--
-- Index: nodes_pk; nodes_session_idx, or nodes_namespace_created_at_idx without a session
with self as materialized (
    select id, namespace, session, seq, created_at from htm.nodes
     where id = any (:nodes) and namespace = any (:namespaces)
),
placed as (
    -- In each direction one of three: a conversation whose places are known, one whose are not, none at all.
    select s.id as around, s.namespace, near.id,
           -row_number() over (partition by s.id order by near.seq desc, near.created_at desc, near.id desc) as place
      from self s
     cross join lateral (
        (select m.id, m.created_at, m.seq from htm.nodes m
          where s.seq is not null and m.namespace = s.namespace and md5(m.session) = md5(s.session) and m.session = s.session
            and m.deleted_at is null and (m.seq, m.created_at, m.id) < (s.seq, s.created_at, s.id)
          order by m.seq desc, m.created_at desc, m.id desc limit :before)
        union all
        (select m.id, m.created_at, null from htm.nodes m
          where s.seq is null and m.namespace = s.namespace and md5(m.session) = md5(s.session) and m.session = s.session
            and m.deleted_at is null and (m.created_at, m.id) < (s.created_at, s.id)
          order by m.created_at desc, m.id desc limit :before)
        union all
        (select m.id, m.created_at, null from htm.nodes m
          where s.session is null and m.namespace = s.namespace
            and m.deleted_at is null and (m.created_at, m.id) < (s.created_at, s.id)
          order by m.created_at desc, m.id desc limit :before)
     ) near
    union all
    select s.id, s.namespace, near.id, row_number() over (partition by s.id order by near.seq, near.created_at, near.id)
      from self s
     cross join lateral (
        (select m.id, m.created_at, m.seq from htm.nodes m
          where s.seq is not null and m.namespace = s.namespace and md5(m.session) = md5(s.session) and m.session = s.session
            and m.deleted_at is null and (m.seq, m.created_at, m.id) > (s.seq, s.created_at, s.id)
          order by m.seq, m.created_at, m.id limit :after)
        union all
        (select m.id, m.created_at, null from htm.nodes m
          where s.seq is null and m.namespace = s.namespace and md5(m.session) = md5(s.session) and m.session = s.session
            and m.deleted_at is null and (m.created_at, m.id) > (s.created_at, s.id)
          order by m.created_at, m.id limit :after)
        union all
        (select m.id, m.created_at, null from htm.nodes m
          where s.session is null and m.namespace = s.namespace
            and m.deleted_at is null and (m.created_at, m.id) > (s.created_at, s.id)
          order by m.created_at, m.id limit :after)
     ) near
)
select p.around, p.place,
       {{node}}
  from placed p
  join htm.nodes m on m.id = p.id and m.namespace = p.namespace and m.namespace = any (:namespaces)
  join htm.robots r on r.id = m.robot_id
 order by p.around, p.place
