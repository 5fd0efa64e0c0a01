-- Jobs with all their data: dead letters first, then parked jobs, then failed ones, then the rest; the newest of each
-- first. The condition is chosen_jobs.sql, the state job_state.sql.
--
-- :ids text[] or null   :queue text or null   :state text or null   :namespace text or null   :node bigint or null
-- :error text a part of the error or null   :limit bigint
-- :after_rank int, :after_time timestamptz, :after_id text: the cursor of the page, or null
--
-- Index: jobs_pkey, jobs_htm_open_idx, jobs_htm_dead_idx, idx_apalis_jobs_fetch_partial
select j.id, j.job_type as queue,
       {{state}} as state,
       j.metadata -> 'namespace' as namespace,
       substring(j.metadata -> 'node' from '^\d{1,18}$')::bigint as node,
       substring(j.metadata -> 'revision' from '^\d{1,9}$')::int as revision,
       j.attempts, j.max_attempts, j.last_result ->> 'Err' as last_error, j.last_result ->> 'Ok' as outcome,
       j.run_at as due_at, j.lock_by as held_by, j.lock_at as held_since, j.done_at as ended_at,
       coalesce(j.priority, 0) as priority, j.idempotency_key as key, j.metadata -> 'parked' as parked,
       (j.metadata -> 'deferred_since')::timestamptz as deferred_since,
       j.job as payload, now() as read_at
  -- Which ones, before anything else is read of them: there may be millions.
  from (select j.id as chosen_id, place.rank, place.at
          from htm.visible_jobs j
         cross join lateral (select case when j.status = 'Killed' then 1
                                         when j.status = 'Done' then 5
                                         when j.metadata ? 'parked' then 2
                                         when j.last_result ? 'Err' then 3
                                         else 4 end as rank,
                                    coalesce(j.done_at, j.lock_at, j.run_at) as at) place
         where {{chosen}}
           and (:after_rank::int is null or place.rank > :after_rank
                or (place.rank = :after_rank and (place.at, j.id) < (:after_time::timestamptz, :after_id::text)))
         order by place.rank, place.at desc, j.id desc
         limit :limit) chosen
  join apalis.jobs j on j.id = chosen.chosen_id
 order by chosen.rank, chosen.at desc, j.id desc
