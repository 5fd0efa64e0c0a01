-- How many nodes in scope the model's store does not hold; counted to 10,001 at most. Reads the scope: for a model
-- that is not the only one, whose missing nodes have no open job to be counted by.
-- {{store}} is the model's table, htm.embeddings_<id>.
--
-- $1 text namespace   $2 timestamptz from or null   $3 timestamptz until or null
--
-- Index: nodes_namespace_created_at_idx, embeddings_<id>_pk
select count(*)
  from (select from htm.nodes n
         where n.namespace = $1 and n.deleted_at is null
           and ($2::timestamptz is null or n.created_at >= $2)
           and ($3::timestamptz is null or n.created_at < $3)
           and not exists (select from {{store}} e where e.node_id = n.id and e.revision = n.revision)
         limit 10001) missing
