-- The receipts of erasures of which all namespaces are seen, the newest first.
--
-- :erasure bigint only this one, or null   :seen text[] namespaces, with `a/*` for those below `a`, or null for all
-- :before bigint only those before this one, or null   :limit bigint
--
-- Index: erasures_pk, erased_nodes_pk
select e.id, e.asked_by, e.selection, e.robot, e.namespaces, e.memories,
       (select coalesce(sum(cardinality(c.nodes)), 0)::bigint
          from htm.erased_nodes c where c.erasure_id = e.id and c.erased_at is not null) as erased,
       e.removed, e.began_at, e.ended_at, e.wal_position::text as wal_position, e.vacuum
  from htm.erasures e
 where (:erasure::bigint is null or e.id = :erasure)
   and (:before::bigint is null or e.id < :before)
   and (:seen::text[] is null
        or (select bool_and(htm.is_within(n.namespace, :seen)) from unnest(e.namespaces) n(namespace)))
 order by e.id desc
 limit :limit
