-- Writes embeddings, completions and the jobs' end in one statement, for the jobs that the worker still holds.
--
-- A node that was edited or forgotten meanwhile gets nothing: its job ends as superseded. Whether it was is read from
-- the locked row: a condition on deleted_at would pass over a node whose restore is about to commit.
-- {{store}} is the model's table, htm.embeddings_<id>.
--
-- :worker text   :claimed_at timestamptz, lock_at of the claim   :jobs text[], ids   :nodes bigint[]   :revisions int[]
-- :embeddings halfvec[]   :model text   :parts int[] windows that each text was split into
--
-- Index: jobs_pkey, nodes_pk
with held as (
    -- By their ids: the index of workers has their done jobs too, until a vacuum.
    select id, attempts, metadata -> 'namespace' as namespace from apalis.jobs
     where id = any (:jobs::text[]) and status = 'Running' and lock_by || '' = :worker and lock_at = :claimed_at
     order by id
       for update
), result as (
    select r.*, h.attempts, h.namespace
      from unnest(:jobs::text[], :nodes::bigint[], :revisions::int[], :embeddings::halfvec[], :parts::int[])
        as r(job, node, revision, embedding, parts)
      join held h on h.id = r.job
), node as (
    select r.job, n.id, n.namespace, n.created_at, r.revision, r.embedding, r.parts, r.attempts,
           n.deleted_at is null and n.revision = r.revision as lives
      from htm.nodes n
      join result r on r.node = n.id and r.namespace = n.namespace
     where n.id = any (:nodes::bigint[]) -- not by namespace, whatever the statistics say
     order by n.id -- as all who lock several: they wait for one another, and never both
       for share of n
), once as (
    -- Two jobs of a node may have been open, and claimed together.
    select distinct on (id) * from node where lives order by id, job
), stored as (
    insert into {{store}} as e (node_id, namespace, created_at, revision, embedding)
    select id, namespace, created_at, revision, embedding from once
    on conflict (node_id, namespace) do update
       set revision = excluded.revision, embedding = excluded.embedding, created_at = excluded.created_at
     where e.revision <= excluded.revision
), completed as (
    insert into htm.completions (namespace, node_id, revision, stage, model, outcome, worker, attempt)
    select namespace, id, revision, 'embed', :model,
           case parts when 1 then 'embedded' else format('embedded in %s parts', parts) end, :worker, attempts
      from once
    on conflict (node_id, revision, stage, model, namespace) do update -- a forced backfill does it again
       set (outcome, worker, attempt, done_at) = (excluded.outcome, excluded.worker, excluded.attempt, now())
), former as (
    -- Found by node: without statistics, in a young database, all of a stage would be read as if it were one row.
    delete from htm.completions c using once n
     where c.node_id = n.id and c.namespace = n.namespace and c.revision < n.revision and c.stage || '' = 'embed'
       and c.model || '' = :model
)
update apalis.jobs j
   set status = 'Done', done_at = now(), lock_by = null, lock_at = null,
       last_result = jsonb_build_object('Ok', case when n.id is null then 'superseded' else 'embedded' end)
  from result r
  left join node n on n.job = r.job and n.lives
 where j.id = r.job and j.id = any (:jobs::text[]) -- whatever the statistics say
returning j.id, n.id is not null as written
