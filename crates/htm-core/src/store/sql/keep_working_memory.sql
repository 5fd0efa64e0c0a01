-- Saves changes of a robot's working memory in the background: added, used and removed nodes.
--
-- A node that was forgotten or purged meanwhile is skipped. Rows are locked in the order of their nodes, before any of
-- them is written: two programs of one robot do not deadlock.
--
-- :robot bigint   :nodes bigint[] added and used nodes   :added_at timestamptz[] when each was added
-- :accessed_at timestamptz[] when each was accessed   :accesses bigint[] how often
-- :gone bigint[] removed nodes
--
-- Index: working_memory_pk, nodes_pk
with held as materialized (
    select count(*)
      from (select from htm.working_memory w
             where w.robot_id = :robot and w.node_id = any (:nodes::bigint[] || :gone::bigint[])
             order by w.node_id
               for update) locked
), gone as (
    delete from htm.working_memory
     where robot_id = :robot
       and node_id = any (:gone::bigint[])
       and exists (select from held)
)
insert into htm.working_memory (robot_id, namespace, node_id, added_at, accessed_at, accesses)
select :robot, n.namespace, n.id, u.added_at, u.accessed_at, u.accesses
  from unnest(:nodes::bigint[], :added_at::timestamptz[], :accessed_at::timestamptz[], :accesses::bigint[])
           as u(node_id, added_at, accessed_at, accesses)
  join htm.nodes n on n.id = u.node_id and n.deleted_at is null
 where exists (select from held)
 order by n.id
on conflict on constraint working_memory_pk do update
   set added_at = excluded.added_at, accessed_at = excluded.accessed_at, accesses = excluded.accesses
