-- The numbers of nodes with words that have no statistics, up to 1,000 each. Such words are new and therefore rare here, but
-- may be in most nodes of other namespaces. So unless the namespaces have nearly all nodes, the statement is planned for
-- them: the index of words is combined with the index of the namespace.
--
-- :words tsquery[]   :namespaces text[]   conditions on the node m: on its namespace
--
-- Index: nodes_tsv_idx, with nodes_namespace_created_at_idx in a small part of all nodes
select (select count(*)
          from (select from htm.visible_nodes m
                 where m.tsv @@ w.query and {{conditions}} and m.deleted_at is null
                 limit 1000) m)::float8
  from unnest(:words::tsquery[]) with ordinality w(query, place)
 order by w.place
