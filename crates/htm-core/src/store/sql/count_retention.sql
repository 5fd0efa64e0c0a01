-- Counts the nodes of a namespace that a retention policy would forget and purge now.
--
-- :namespace text   :forget bigint or null and :purge bigint or null, seconds
--
-- Index: nodes_namespace_created_at_idx, nodes_deleted_at_idx
select (select count(*) from htm.nodes n
         where n.namespace = :namespace and n.deleted_at is null
           and n.created_at < now() - :forget::bigint * interval '1 second'
           and n.remembered_at < now() - :forget::bigint * interval '1 second'
           and not exists (select from htm.node_absences a
                            where a.node_id = n.id and a.namespace = n.namespace
                              and a.restored_at >= now() - :forget::bigint * interval '1 second')),
       (select count(*) from htm.nodes n
         where n.namespace = :namespace and n.deleted_at < now() - :purge::bigint * interval '1 second')
