-- The turns beside each candidate that is a short turn of a conversation, up to two before and two after it, by place or
-- else by time. Long texts get no neighbours, and neither do passages of documents, which have their headings: with
-- neighbours, fewer questions found their passage first (docs/documents.md).
--
-- :nodes bigint[] candidates   conditions on the turn m beside one, unless it is a candidate itself
--
-- The session is asked for by a function: as a condition of a partial index, it would be read whole where few nodes had
-- a session at the last ANALYZE.
--
-- Index: nodes_pk; nodes_session_seq_idx or nodes_session_idx
with turn as materialized (
    select n.id, n.namespace, n.session, n.seq, n.created_at
      from htm.nodes n
     where n.id = any (:nodes){{of_n}} and num_nulls(n.session) = 0 and length(n.tsv) <= 64 and n.type is distinct from 'passage'
),
link as (
    -- Places may be any integer.
    select t.id as turn, m.id as other, abs(m.seq::bigint - t.seq) as steps
      from turn t
      join htm.nodes m on m.namespace = t.namespace and md5(m.session) = md5(t.session) and m.session = t.session
       and m.seq between t.seq::bigint - 2 and t.seq::bigint + 2 and m.seq <> t.seq
     where m.deleted_at is null and m.type is distinct from 'passage'{{of_m}}
    union all
    select t.id, near.id, near.steps
      from turn t
     cross join lateral (
           (select m.id, row_number() over (order by m.created_at desc, m.id desc) as steps
              from htm.nodes m
             where t.seq is null and m.namespace = t.namespace and md5(m.session) = md5(t.session) and m.session = t.session
               and m.deleted_at is null and m.type is distinct from 'passage' and (m.created_at, m.id) < (t.created_at, t.id)
             order by m.created_at desc, m.id desc limit 2)
           union all
           (select m.id, row_number() over (order by m.created_at, m.id)
              from htm.nodes m
             where t.seq is null and m.namespace = t.namespace and md5(m.session) = md5(t.session) and m.session = t.session
               and m.deleted_at is null and m.type is distinct from 'passage' and (m.created_at, m.id) > (t.created_at, t.id)
             order by m.created_at, m.id limit 2)) near
)
select l.turn, l.other, l.steps
  from link l
{{where}}
