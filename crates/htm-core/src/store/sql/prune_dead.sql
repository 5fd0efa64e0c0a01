-- Deletes the obsolete ones among the next 2,000 dead letters of a queue: the node was forgotten or edited, or has its
-- result from another job. A dead letter that explains a missing result stays, because the node would be stranded. One
-- without a node stays too: it explains why a namespace has no ranking, until the namespace's next job replaces it.
-- A split's job replaces tags of a text that was tagged before: only a later result is another job's.
-- Returns the number of deleted ones and the last id that was read, or null at the end.
--
-- :age_ms bigint for which they have been dead, at least   :queue text
-- :died_at timestamptz and :id text: the last that was looked at before, or null
--
-- A node that is there is held while its job is deleted: a restore at the same time relies on the dead letter, or
-- enqueues a job.
--
-- Index: jobs_htm_dead_idx, nodes_pk, completions_pk, jobs_pkey
with looked_at as materialized (
    select id, metadata, done_at
      from apalis.jobs
     where job_type = :queue and status = 'Killed' and status in ('Killed', 'Failed') -- the index's
       and done_at <= now() - :age_ms * interval '1 millisecond'
       and done_at >= coalesce(:died_at::timestamptz, '-infinity') and (:id::text is null or (done_at, id) > (:died_at, :id))
     order by done_at, id
     limit 2000
), dead as materialized (
    select j.id, substring(l.metadata -> 'node' from '^\d{1,18}$')::bigint as node,
           substring(l.metadata -> 'revision' from '^\d{1,9}$')::int as revision, l.metadata -> 'namespace' as namespace,
           j.done_at as died_at, coalesce(split_part(j.idempotency_key, '/', 3), '') like 'split-%' as of_split
      from apalis.jobs j
      join looked_at l on l.id = j.id
     where j.status = 'Killed' and j.job_type <> 'htm.learn'
       for update of j skip locked
), of_nodes as materialized (
    select d.id
      from dead d
      join htm.nodes n on n.id = d.node and n.namespace = d.namespace
     where n.deleted_at is not null or n.revision is distinct from d.revision
        or exists (select from htm.completions c
                    where c.node_id = n.id and c.namespace = n.namespace and c.revision = n.revision
                      and case when d.of_split then c.stage in ('tag', 'split') and c.done_at > d.died_at
                               when :queue = 'htm.tag' then c.stage = 'tag'
                               else c.stage = 'embed'
                                    and c.model = (select label from htm.embedding_models where queue = :queue) end)
       for share of n skip locked
), deleted as (
    delete from apalis.jobs
     where id = any (array(select id from of_nodes)
                     || array(select d.id from dead d where not exists (select from htm.nodes n where n.id = d.node and n.namespace = d.namespace)))
    returning 1
)
select (select count(*) from deleted), last.done_at, last.id
  from (values (1)) one
  left join (select done_at, id from looked_at order by done_at desc, id desc limit 1) last on true
