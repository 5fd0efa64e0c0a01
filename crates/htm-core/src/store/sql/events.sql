-- The events after a position, of transactions before :horizon. All of these have ended, so no earlier event can
-- appear. The id of a row's last transaction is in its xmin, of 32 bits; the epoch is that of the horizon.
--
-- :transaction bigint, :row text: the cursor   :since timestamptz no later row is older   :horizon bigint
-- :namespaces text[] or null: all   :limit bigint
--
-- Index: jobs_htm_done_idx, jobs_htm_dead_idx, tag_changes_made_at_idx, relations_made_at_idx; groups are few
with ended as (
    select j.xmin, 'job/' || j.id as row, j.done_at as at, j.metadata -> 'namespace' as namespace,
           case when j.status = 'Killed' then 'job.dead' else 'memory.' || (j.last_result ->> 'Ok') end as kind,
           substring(j.metadata -> 'node' from '^\d{1,18}$')::bigint as node,
           substring(j.metadata -> 'revision' from '^\d{1,9}$')::int as revision,
           case when j.status = 'Killed' then j.id end as job, j.job_type as queue,
           case when j.status = 'Killed' then j.last_result ->> 'Err' end as error
      from apalis.jobs j
     where j.job_type like 'htm.%' and j.done_at >= :since
       and (j.status = 'Done' and j.last_result ->> 'Ok' in ('embedded', 'tagged') or j.status = 'Killed')
), event as (
    select e.xmin, e.row, e.at, e.namespace, e.kind, e.node, e.revision, m.label as model, e.job,
           case when e.job is not null then e.queue end as queue, e.error,
           null::bigint as change, null::text as action, null::text as "group", null::bigint as version,
           null::bigint as "to", null::text as relation
      from ended e
      left join htm.embedding_models m on m.queue = e.queue
    union all
    select c.xmin, 'change/' || c.id, c.made_at, c.namespace, 'ontology.changed', null, null, null, null, null, null,
           c.id, c.kind, null, null, null, null
      from htm.tag_changes c
     where c.made_at >= :since and c.reverted_by is null
    union all
    select g.xmin, 'group/' || g.id || '/' || g.version, clock_timestamp(), g.namespace, 'group.changed', null, null, null,
           null, null, null, null, null, g.name, g.version, null, null
      from htm.robot_groups g
    union all
    select x.xmin, 'relation/' || x.from_node || '-' || x.kind || '-' || x.to_node, x.made_at, x.namespace, 'relation.set',
           x.from_node, null, null, null, null, null, null, null, null, null, x.to_node, x.kind
      from htm.relations x
     where x.made_at >= :since
), placed as (
    select e.*, (e.xmin::text::bigint | (:horizon & ~4294967295))
                - case when e.xmin::text::bigint > (:horizon & 4294967295) then 4294967296 else 0 end as transaction
      from event e
     where :namespaces::text[] is null or htm.is_within(e.namespace, :namespaces)
)
select transaction, row, at, namespace, kind, node, revision, model, job, queue, error, change, action, "group", version,
       "to", relation
  from placed
 where transaction < :horizon and (transaction, row) > (:transaction, :row collate "C")
 order by transaction, row collate "C"
 limit :limit
