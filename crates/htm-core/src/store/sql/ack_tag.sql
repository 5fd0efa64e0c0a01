-- Writes tag assignments, completions and the jobs' end in one statement, for the jobs that the worker still holds.
--
-- A node that was edited or forgotten meanwhile gets nothing; as in ack_embed.sql, the locked row says whether it was.
-- Earlier tags of any model are replaced. A manual tag stays, and so does a split tag if none of its parts fits. A job of a
-- split replaces split tags only. The tags' rows are registered before.
--
-- :worker text   :claimed_at timestamptz, lock_at of the claim   :jobs text[], ids   :nodes bigint[]   :revisions int[]
-- :model text   :version text of the prompt   :origin text   :tag_jobs text[] tag: its job   :tags text[] tag: path
-- :confidences real[] tag: confidence or null
--
-- Index: jobs_pkey, nodes_pk, tags_namespace_path_key
with held as (
    -- By their ids: the index of workers has their done jobs too, until a vacuum.
    select id, attempts, metadata -> 'namespace' as namespace,
           coalesce(split_part(idempotency_key, '/', 3), '') like 'split-%' as of_split
      from apalis.jobs
     where id = any (:jobs::text[]) and status = 'Running' and lock_by || '' = :worker and lock_at = :claimed_at
     order by id
       for update
), result as (
    select r.*, h.attempts, h.namespace, h.of_split
      from unnest(:jobs::text[], :nodes::bigint[], :revisions::int[]) as r(job, node, revision)
      join held h on h.id = r.job
), node as (
    select n.id, n.namespace, n.updated_at, r.job, r.revision, r.attempts, r.of_split,
           n.deleted_at is null and n.revision = r.revision as lives
      from htm.nodes n
      join result r on r.node = n.id and r.namespace = n.namespace
     where n.id = any (:nodes::bigint[]) -- not by namespace, whatever the statistics say
     order by n.id -- as all who lock several: they wait for one another, and never both
       for share of n
), once as (
    -- Two jobs of a node may have been open, and claimed together: one of them may be a split's.
    select distinct on (id) *,
           exists (select from htm.completions c
                    where c.node_id = node.id and c.namespace = node.namespace and c.revision = node.revision
                      and c.stage || '' = 'tag') as was_tagged
      from node where lives order by id, of_split, job
), proposed as (
    select distinct on (n.id, t.id) n.namespace, n.id as node_id, t.id as tag_id, g.confidence
      from unnest(:tag_jobs::text[], :tags::text[], :confidences::real[]) as g(job, path, confidence)
      join once n on n.job = g.job
      join htm.tags t on t.namespace = n.namespace and t.path = g.path
     order by n.id, t.id, g.confidence desc nulls last
), leftover as (
    -- A tag that was split, of a text that was tagged before and fits none of those in its place: it stays, or gives way
    -- to the first of them.
    select n.namespace, n.id as node_id, nt.tag_id, coalesce(f.id, nt.tag_id) as rest_id,
           nt.origin, nt.model, nt.prompt_version, nt.confidence
      from once n
      join htm.node_tags nt on nt.node_id = n.id and nt.namespace = n.namespace and nt.origin <> 'manual'
      join htm.tags t on t.id = nt.tag_id and t.namespace = n.namespace and t.split_into is not null
      left join htm.tags f on t.split_rest = 'first' and f.namespace = t.namespace and f.path = t.split_into[1]
     where n.was_tagged
       and not exists (select from proposed p
                         join htm.tags g on g.id = p.tag_id
                        cross join unnest(t.split_into) s(path)
                        where p.node_id = n.id and (g.path = s.path or starts_with(g.path, s.path || ':')))
), outdated as (
    delete from htm.node_tags nt
     using once n
     where nt.node_id = n.id and nt.namespace = n.namespace and nt.origin <> 'manual'
       and (not (n.of_split and n.was_tagged)
            or exists (select from htm.tags t
                        where t.id = nt.tag_id and t.namespace = n.namespace and t.split_into is not null))
       and not exists (select from leftover l where l.node_id = nt.node_id and l.rest_id = nt.tag_id)
       and (nt.origin in (:origin, 'llm', 'local') or nt.created_at < n.updated_at) -- of a former text, whoever found it there
       and not exists (select from proposed p where p.node_id = nt.node_id and p.tag_id = nt.tag_id)
), assigned as (
    insert into htm.node_tags as nt (namespace, node_id, tag_id, origin, model, prompt_version, confidence)
    select namespace, node_id, tag_id, :origin, :model, :version, confidence from proposed
    on conflict (node_id, tag_id, namespace) do update
       set (origin, model, prompt_version, confidence)
         = (excluded.origin, excluded.model, excluded.prompt_version, excluded.confidence)
     where nt.origin in (excluded.origin, 'llm', 'local')
), rest as (
    insert into htm.node_tags (namespace, node_id, tag_id, origin, model, prompt_version, confidence)
    select distinct on (node_id, rest_id) namespace, node_id, rest_id, origin, model, prompt_version, confidence
      from leftover where rest_id <> tag_id
     order by node_id, rest_id, confidence desc nulls last
    on conflict (node_id, tag_id, namespace) do nothing
), completed as (
    -- Done now, not when the transaction began: it may have waited for a change of the names, which asks what came after it.
    insert into htm.completions (namespace, node_id, revision, stage, model, version, outcome, worker, attempt, done_at)
    select n.namespace, n.id, n.revision, case when n.of_split and n.was_tagged then 'split' else 'tag' end, :model, :version,
           (select count(*) from proposed p where p.node_id = n.id) || ' tags', :worker, n.attempts, clock_timestamp()
      from once n -- after a split, the other tags are as they were: what asks when and by which prompt asks for the stage tag
    on conflict (node_id, revision, stage, model, namespace) do update -- a forced backfill does it again
       set (version, outcome, worker, attempt, done_at) = (excluded.version, excluded.outcome, excluded.worker, excluded.attempt, excluded.done_at)
), former as (
    -- Found by node: without statistics, in a young database, all of a stage would be read as if it were one row.
    delete from htm.completions c using once n
     where c.node_id = n.id and c.namespace = n.namespace and c.revision < n.revision and c.stage || '' in ('tag', 'split')
)
update apalis.jobs j
   set status = 'Done', done_at = now(), lock_by = null, lock_at = null,
       last_result = jsonb_build_object('Ok', case when n.id is null then 'superseded' else 'tagged' end)
  from result r
  left join node n on n.job = r.job and n.lives
 where j.id = r.job and j.id = any (:jobs::text[]) -- whatever the statistics say
returning j.id, n.id is not null as written
