-- Writes the vectors that callers bring for nodes, with their completions, as ack_embed.sql does for computed ones. A
-- node that was forgotten, or whose text is another by now, gets none. Returns the nodes that got theirs.
--
-- {{store}} is the model's table, htm.embeddings_<id>.
--
-- :nodes bigint[]   :namespaces text[]   :revisions int[], null: any   :hashes bytea[] SHA-256 of each text, null: any
-- :embeddings halfvec[]   :model text its label
--
-- Index: nodes_pk
with node as materialized (
    select n.id, n.namespace, n.created_at, n.revision, u.embedding, u.ord
      from unnest(:nodes::bigint[], :namespaces::text[], :revisions::int[], :hashes::bytea[], :embeddings::halfvec[])
             with ordinality as u(node, namespace, revision, hash, embedding, ord)
      join htm.nodes n on n.id = u.node and n.namespace = u.namespace
     where n.id = any (:nodes::bigint[]) and n.deleted_at is null and n.revision = coalesce(u.revision, n.revision)
       and n.content_hash = coalesce(u.hash, n.content_hash)
     order by n.id
       for share of n
), once as (
    -- Of two memories of a batch with the same text, the last one counts.
    select distinct on (id) * from node order by id, ord desc
), stored as (
    insert into {{store}} as e (node_id, namespace, created_at, revision, embedding)
    select id, namespace, created_at, revision, embedding from once
    on conflict (node_id, namespace) do update
       set revision = excluded.revision, embedding = excluded.embedding, created_at = excluded.created_at
     where e.revision <= excluded.revision
), completed as (
    insert into htm.completions (namespace, node_id, revision, stage, model, outcome, worker, attempt)
    select namespace, id, revision, 'embed', :model, 'embedded by its caller', 'caller', 1 from once
    on conflict (node_id, revision, stage, model, namespace) do update set done_at = now()
), former as (
    -- Found by node: without statistics, in a young database, all of a stage would be read as if it were one row.
    delete from htm.completions c using once n
     where c.node_id = n.id and c.namespace = n.namespace and c.revision < n.revision and c.stage || '' = 'embed'
       and c.model || '' = :model
)
select id from once
