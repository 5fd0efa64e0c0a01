-- Ends the attempt of jobs that the worker still holds: each waits, is parked, or is a dead letter.
--
-- :worker text   :claimed_at timestamptz, lock_at of the claim   :jobs text[], ids
-- :delays_ms bigint[] until the next attempt   :charged boolean[] the attempt is charged   :dead boolean[] dead now
-- :parked_until timestamptz[] or null: its namespace's budget is spent until then   :tokens bigint[] it would spend
-- :reasons text[] what happened
-- :patience_ms bigint the longest time for which a job is deferred, no attempt counted: then it is parked
--
-- A wait of more than an hour in the queue does not count as deferral, because a queue may be paused, and a backlog may be
-- long: `deferred_since` moves on by it. Shorter waits may be those for the provider, whose holds last minutes.
--
-- A job that was tried and did not end its worker is no suspect any more (claim_jobs.sql).
--
-- A budget that was raised or removed since the refusal has room: its job is due at once. The budget is locked, so that
-- a raise either is seen here, or finds the job parked.
--
-- The fence is (lock_by, lock_at): a stale holder changes nothing. Returns the jobs that were held, with their states now
-- (job_state.sql).
-- Index: jobs_pkey, budgets_pk
with held as (
    select j.id, f.delay_ms, f.charged, f.reason, f.budget_at, f.tokens, j.metadata -> 'namespace' as namespace,
           f.dead or (f.charged and j.attempts >= j.max_attempts) as dead,
           put_off.since,
           not f.dead and not f.charged and put_off.since < now() - :patience_ms * interval '1 millisecond' as too_old
      from unnest(:jobs::text[], :delays_ms::bigint[], :charged::boolean[], :dead::boolean[], :parked_until::timestamptz[],
                  :tokens::bigint[], :reasons::text[]) as f(id, delay_ms, charged, dead, budget_at, tokens, reason)
      join apalis.jobs j on j.id = f.id
     cross join lateral (
           select coalesce((j.metadata -> 'deferred_since')::timestamptz
                               + case when j.lock_at - j.run_at > interval '1 hour' then j.lock_at - j.run_at
                                      else interval '0' end,
                           now()) as since) put_off
     where j.id = any (:jobs::text[]) and j.status = 'Running' and j.lock_by || '' = :worker and j.lock_at = :claimed_at
     order by j.id
       for update of j
), budget as materialized (
    select namespace, tokens_per_day, tokens_used from htm.budgets
     where namespace = any (array(select namespace from held where budget_at is not null))
     order by namespace -- as all who lock several
       for share
), failed as (
    select h.id, h.delay_ms, h.charged, h.reason, h.dead, h.since, h.too_old and h.budget_at is null as too_old,
           case when b.namespace is not null then h.budget_at end as budget_at
      from held h
      -- As htm.spend refuses.
      left join budget b on b.namespace = h.namespace and b.tokens_used + h.tokens > b.tokens_per_day
                        and (b.tokens_used > 0 or b.tokens_per_day = 0)
)
update apalis.jobs j
   set status      = case when f.dead then 'Killed' else 'Pending' end,
       done_at     = case when f.dead then now() end,
       attempts    = case when f.charged or f.dead then j.attempts else greatest(j.attempts - 1, 0) end,
       run_at      = case when f.budget_at is not null then f.budget_at
                          when f.too_old then now() + interval '100 years' -- never by itself
                          else now() + f.delay_ms * interval '1 millisecond' end,
       last_result = jsonb_build_object('Err', f.reason),
       metadata    = case when f.dead or f.charged then delete(j.metadata, array['deferred_since', 'losses'])
                          when f.budget_at is not null then delete(j.metadata, 'deferred_since') || hstore('parked', 'budget')
                          when f.too_old then j.metadata || hstore('parked', 'age')
                          else j.metadata || hstore('deferred_since', f.since::text) end,
       lock_by     = null,
       lock_at     = null
  from failed f
 where j.id = f.id and j.id = any (:jobs::text[]) -- whatever the statistics say
returning j.id, {{state}} as state
