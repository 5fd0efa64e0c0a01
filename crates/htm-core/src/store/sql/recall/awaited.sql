-- How many of the latest 1,000 nodes in scope have no vector of a model whose vectors callers bring. A recall does not
-- wait for a count of all.
--
-- :label text of the model
-- :namespaces text[]   scope on the node n
--
-- Index: nodes_namespace_created_at_idx, completions_pk
with latest as materialized (
    select n.id, n.revision
      from htm.nodes n
     where n.namespace = any (:namespaces) and n.deleted_at is null and {{scope}}
     order by n.created_at desc
     limit 1000
)
select count(*)
  from latest n
 where not exists (select from htm.completions c
                    where c.node_id = n.id and c.revision = n.revision and c.stage = 'embed' and c.model = :label)
