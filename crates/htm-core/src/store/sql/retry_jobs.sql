-- Makes jobs due again as if they were new. Jobs of nodes that were forgotten or edited since are obsolete and stay as
-- they are. A learning job has no node and is never obsolete. The condition is chosen_jobs.sql.
--
-- :ids text[] or null   :queue text or null   :state text or null   :namespace text or null   :node bigint or null
-- :error text a part of the error or null
--
-- Returns the numbers of due and of obsolete jobs. Jobs that ran meanwhile count as neither.
-- Index: jobs_pkey, jobs_htm_open_idx, jobs_htm_dead_idx, nodes_pk
with chosen as (
    select j.id, j.job_type = 'htm.learn'
                 or exists (select from htm.nodes n
                             where n.id = substring(j.metadata -> 'node' from '^\d{1,18}$')::bigint
                               and n.revision = substring(j.metadata -> 'revision' from '^\d{1,9}$')::int
                               and n.deleted_at is null) as wanted
      from htm.visible_jobs j
     where {{chosen}}
       and j.status in ('Pending', 'Killed')
     order by j.id
       for update
), retried as (
    update apalis.jobs j
       set status = 'Pending', run_at = now(), attempts = 0, done_at = null, last_result = null,
           metadata = delete(j.metadata, array['parked', 'deferred_since', 'losses'])
      from chosen c
     where j.id = c.id and c.wanted
    returning j.id
)
select (select count(*) from retried) as retried, (select count(*) from chosen where not wanted) as outdated
