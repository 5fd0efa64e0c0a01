-- Makes jobs due again as if they were new. Jobs of nodes that were forgotten or edited since are obsolete and stay as
-- they are. A learning job has no node and is never obsolete. The condition is chosen_jobs.sql.
--
-- :ids text[] or null   :queue text or null   :state text or null   :namespace text or null   :node bigint or null
-- :error text a part of the error or null
--
-- Returns the numbers of due and of obsolete jobs, and of due ones that htm.spend refuses now. Jobs that ran meanwhile
-- count as none of these.
-- Index: jobs_pkey, jobs_htm_open_idx, jobs_htm_dead_idx, nodes_pk, budgets_pk
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
    returning j.id, j.metadata -> 'namespace' as namespace, (j.metadata -> 'node')::bigint as node
), over_budget as (
    select r.id
      from retried r
      join htm.budgets b on b.namespace = r.namespace
      join htm.nodes m on m.id = r.node and m.namespace = r.namespace
     cross join lateral (select case when b.day = (now() at time zone 'utc')::date then b.tokens_used else 0 end) today(used)
     where today.used + m.token_count > b.tokens_per_day and (today.used > 0 or b.tokens_per_day = 0)
)
select (select count(*) from retried) as retried, (select count(*) from chosen where not wanted) as outdated,
       (select count(*) from over_budget) as over_budget
