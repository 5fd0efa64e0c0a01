-- Keeps a judged recall for its namespace's retention time and counts it once if a candidate was used. Enqueues a
-- learning job at the least number of judged recalls, and again after a fifth more. While such a job runs, the next
-- verdict enqueues it.
--
-- :recall bigint   :namespace text   :any boolean a candidate was judged   :any_used boolean   :missed smallint   :max_attempts int   :priority int
--
-- Index: recalls_pk, learning_pk
with setting as (
    select learns_with, keep_days from htm.learning where namespace = :namespace
), former as (
    select judged from htm.recalls where number = :recall and namespace = :namespace for update
), recall as (
    update htm.recalls r
       set judged = r.judged or :any_used, missed = greatest(r.missed, :missed::smallint),
           keep_until = case when :any then r.made_at + (select keep_days from setting) * interval '1 day'
                           else r.keep_until end
     where r.number = :recall and r.namespace = :namespace and exists (select from setting)
), counted as (
    update htm.learning l
       set judged = l.judged + 1,
           asked_at = case when l.judged + 1 >= l.least and l.judged + 1 >= l.asked_at * 1.2
                                 and not exists (select from apalis.jobs j
                                                  where j.job_type = 'htm.learn' and j.idempotency_key = l.namespace
                                                    and j.status = 'Running')
                           then l.judged + 1 else l.asked_at end
     where l.namespace = (select learns_with from setting)
       and :any_used and exists (select from former where not judged)
    returning l.namespace, l.judged, l.asked_at = l.judged as is_due
), job as (
    insert into apalis.jobs (id, job_type, job, status, attempts, max_attempts, run_at, priority, metadata, idempotency_key)
    select apalis.generate_ulid(), 'htm.learn',
           convert_to(json_build_object('v', 1, 'namespace', c.namespace)::text, 'UTF8'),
           'Pending', 0, :max_attempts, now(), :priority, hstore('namespace', c.namespace), c.namespace
      from counted c
     where c.is_due
    -- Each namespace has one job. It becomes due again.
    on conflict (job_type, idempotency_key) do update
       set status = 'Pending', attempts = 0, run_at = now(), done_at = null, last_result = null,
           metadata = excluded.metadata
     where jobs.status in ('Done', 'Killed')
    returning 1
)
select coalesce((select judged from counted),
                (select l.judged from htm.learning l where l.namespace = (select learns_with from setting)), 0) as judged,
       coalesce((select is_due from counted), false) as learns
