-- Writes what a robot has in mind, behind its calls: what came or was used, and what left.
--
-- A node that was forgotten or purged meanwhile is passed over. Rows in order of their nodes: two programs that speak
-- for one robot never wait for each other in a circle.
--
-- $1 bigint        robot
-- $2 bigint[]      nodes that are in mind     $3 timestamptz[] when each was added
-- $4 timestamptz[] when each was accessed     $5 bigint[]      how often
-- $6 bigint[]      nodes that left; null: all but those of $2
--
-- Index: working_memory_pk, nodes_pk
with gone as (
    delete from htm.working_memory
     where robot_id = $1
       and case when $6::bigint[] is null then node_id <> all ($2::bigint[]) else node_id = any ($6::bigint[]) end
)
insert into htm.working_memory (robot_id, namespace, node_id, added_at, accessed_at, accesses)
select $1, n.namespace, n.id, u.added_at, u.accessed_at, u.accesses
  from unnest($2::bigint[], $3::timestamptz[], $4::timestamptz[], $5::bigint[])
           as u(node_id, added_at, accessed_at, accesses)
  join htm.nodes n on n.id = u.node_id and n.deleted_at is null
 order by n.id
on conflict on constraint working_memory_pk do update
   set added_at = excluded.added_at, accessed_at = excluded.accessed_at, accesses = excluded.accesses
