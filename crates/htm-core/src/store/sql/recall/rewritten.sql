-- The number of nodes in scope that existed at a time and have another text now: no vector has the former text.
--
-- :as_of timestamptz   scope on the node n
--
-- Index: nodes_rewritten_idx, node_absences_pk
select count(*)
  from htm.nodes n
 where n.revision > 1 and n.updated_at > :as_of and {{scope}}
   and n.remembered_at <= :as_of and (n.deleted_at is null or n.deleted_at > :as_of)
   and not exists (select from htm.node_absences a
                    where a.node_id = n.id and a.namespace = n.namespace
                      and a.forgotten_at <= :as_of and a.restored_at > :as_of)
