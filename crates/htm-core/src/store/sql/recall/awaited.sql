-- The number of nodes without a vector of a model, among the latest 200 in scope: a recall does not wait for a count of
-- all. It is for nodes without a job: of a model whose vectors callers bring, and of a new one before its backfill.
-- Without sorting, each namespace's nodes come by their index.
--
-- :label text of the model
-- :namespaces text[]   scope on the node n
--
-- Index: nodes_namespace_created_at_idx, completions_pk
with latest as materialized (
    select n.id, n.namespace, n.revision
      from unnest(:namespaces::text[]) s(namespace)
     cross join lateral (
           select n.id, n.namespace, n.revision, n.created_at
             from htm.nodes n
            where n.namespace = s.namespace and n.deleted_at is null and {{scope}}
            order by n.created_at desc
            limit 200) n
     order by n.created_at desc
     limit 200
)
select count(*)
  from latest n
 where not exists (select from htm.completions c
                    where c.node_id = n.id and c.namespace = n.namespace{{of_c}}
                       and c.revision = n.revision and c.stage || '' = 'embed' and c.model || '' = :label)
