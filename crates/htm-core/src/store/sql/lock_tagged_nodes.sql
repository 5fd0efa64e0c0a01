-- Locks the nodes of tags, or of a change, against purges, edits and tagging. They are locked in the order of their
-- ids, as everywhere, and before any assignment is changed.
--
-- :namespace text   :tags text[]   :change bigint or null
--
-- Index: tags_namespace_path_key, node_tags_tag_idx, tag_change_nodes_pk, nodes_pk
select count(*)
  from (select
          from htm.nodes n
         -- By their ids: of a new namespace the statistics say that it has one node.
         where (n.id, n.namespace) in (select a.node_id, a.namespace
                                         from htm.tags t
                                         join htm.node_tags a on a.tag_id = t.id and a.namespace = :namespace
                                        where t.namespace = :namespace and t.path = any (:tags)
                                       union all
                                       select c.node_id, c.namespace from htm.tag_change_nodes c
                                        where c.change_id = :change and c.namespace = :namespace)
         order by n.id
           for key share of n) locked
