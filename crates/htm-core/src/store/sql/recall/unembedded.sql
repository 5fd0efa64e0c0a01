-- The number of nodes in scope without a vector yet, among at most 1,001 open jobs: a recall does not wait for a larger
-- count. It reads the open jobs instead of the nodes, because these are few while the workers keep up.
--
-- :queue text the model's queue   :label text its label, or null; a node that is embedded again has a vector meanwhile
-- :namespaces text[]   scope on the node n
--
-- Index: jobs_htm_open_idx, nodes_pk, completions_pk
with open as materialized (
    -- Read once, whatever the statistics say. Joined directly, it was read again for each node of the scope.
    select (j.metadata -> 'node')::bigint as node, (j.metadata -> 'revision')::int as revision
      from htm.visible_jobs j
     where j.job_type like 'htm.%' and j.job_type = :queue and j.status <> 'Done'
       and j.metadata -> 'namespace' = any (:namespaces)
     limit 1001
)
select count(*)
  from open o
 cross join lateral (
       select from htm.nodes n
        where n.id = o.node and n.revision = o.revision and n.deleted_at is null and {{scope}}
          and not exists (select from htm.completions c
                           where c.node_id = n.id and c.namespace = n.namespace{{of_c}}
                       and c.revision = n.revision and c.stage = 'embed' and c.model = :label)
        limit 1) n
