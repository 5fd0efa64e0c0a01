-- The vectors of nodes by one model, each of the node's present text. {{store}} is the model's table, htm.embeddings_<id>.
--
-- :nodes bigint[]   :namespace text, theirs   :model text the model's label
--
-- Index: the primary key of the store, nodes_pk, completions_pk
select e.node_id, e.embedding, coalesce(c.outcome, 'embedded') as outcome, coalesce(c.done_at, n.updated_at) as done_at
  -- By their ids, whatever the statistics say of the namespace.
  from (select :namespace::text as namespace, unnest(:nodes::bigint[]) as node) u
  join {{store}} e on e.node_id = u.node and e.namespace = u.namespace
  join htm.nodes n on n.id = e.node_id and n.namespace = e.namespace and n.revision = e.revision
  left join htm.completions c
    on c.node_id = e.node_id and c.namespace = e.namespace and c.revision = e.revision
   and c.stage = 'embed' and c.model = :model
