-- Deletes removals that all living members have seen. An older member reads everything again.
--
-- :group bigint, whose row the caller has locked   :namespace text, its own
--
-- Index: robot_groups_pk, group_members_pk, group_memory_version_idx
with gone as (
    delete from htm.group_memory
     where group_id = :group and namespace = :namespace and removed_at is not null
       and version <= (select min(seen_version) from htm.group_members
                        where group_id = :group and seen_at + lease_ms * interval '1 millisecond' > clock_timestamp())
    returning version
)
update htm.robot_groups set pruned_version = greatest(pruned_version, (select max(version) from gone))
 where id = :group and exists (select from gone)
