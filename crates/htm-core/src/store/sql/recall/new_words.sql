-- The numbers of nodes that have words of which there are no statistics, up to 1,000 each. They are new, therefore rare. In a
-- part of all nodes it is planned for its namespaces: those with the word are met with those of the namespaces within the
-- indexes, because a word that is nowhere here may be in most nodes of others. Of nearly all nodes, no index serves the namespace.
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
