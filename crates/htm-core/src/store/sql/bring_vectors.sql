-- Writes the vectors that callers bring for nodes, with their completions, as ack_embed.sql does for computed ones. A
-- node that was forgotten, or whose text is another by now, gets none. Returns the nodes that got theirs.
--
-- {{store}} is the model's table, htm.embeddings_<id>.
--
-- :nodes bigint[]   :namespaces text[]   :revisions int[], null: any   :hashes bytea[] SHA-256 of each text, null: any
-- :embeddings halfvec[]   :model text its label
--
-- Index: nodes_pk
with brought as (
    -- In the order of all who lock several: they wait for one another, and never both.
    select *
      from unnest(:nodes::bigint[], :namespaces::text[], :revisions::int[], :hashes::bytea[], :embeddings::halfvec[])
           with ordinality as u(node, namespace, revision, hash, embedding, ord)
     order by node
), node as materialized (
    -- Each is looked up by its id (`offset 0`), whatever the statistics say about forgotten nodes.
    select n.id, n.namespace, n.created_at, n.revision, u.embedding, u.ord
      from brought u
     cross join lateral (select m.* from htm.nodes m where m.id = u.node and m.namespace = u.namespace offset 0 for share) n
     where n.deleted_at is null and n.revision = coalesce(u.revision, n.revision)
       and n.content_hash = coalesce(u.hash, n.content_hash)
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
