-- Ends jobs whose node was edited or forgotten before the worker read it. If the node is live at the job's revision after
-- all, a restore was about to commit: the job waits again, without a charged attempt.
--
-- The node is locked first, whatever state it seems to be in: a restore that has not committed yet is waited for.
--
-- :worker text   :claimed_at timestamptz, lock_at of the claim   :jobs text[], ids   :nodes bigint[]   :revisions int[]
--
-- Index: nodes_pk, jobs_pkey
with node as (
    select n.id, n.revision, n.deleted_at
      from unnest(:jobs::text[], :nodes::bigint[]) as r(job, node)
      join apalis.jobs j on j.id = r.job
      join htm.nodes n on n.id = r.node and n.namespace = j.metadata -> 'namespace'
     where j.id = any (:jobs::text[]) and n.id = any (:nodes::bigint[]) -- whatever the statistics say
     order by n.id -- as all who lock several
       for share of n
), looked_at as (
    select r.job, exists (select from node n
                           where n.id = r.node and n.revision = r.revision and n.deleted_at is null) as lives
      from unnest(:jobs::text[], :nodes::bigint[], :revisions::int[]) as r(job, node, revision)
), held as (
    select id from apalis.jobs
     where id = any (array(select job from looked_at)) -- after the nodes
       and status = 'Running' and lock_by || '' = :worker and lock_at = :claimed_at
     order by id -- as all who lock several
       for update
)
update apalis.jobs j
   set status      = case when l.lives then 'Pending' else 'Done' end,
       done_at     = case when not l.lives then now() end,
       attempts    = case when l.lives then greatest(j.attempts - 1, 0) else j.attempts end,
       last_result = case when l.lives then j.last_result else '{"Ok": "superseded"}' end,
       lock_by     = null,
       lock_at     = null
  from looked_at l
 where j.id = l.job and j.id = any (array(select id from held))
returning l.lives
