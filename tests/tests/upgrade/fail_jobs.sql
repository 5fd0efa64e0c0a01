-- Ends the attempt of jobs that the worker still holds: each waits, or is a dead letter.
--
-- $1 text worker        $2 timestamptz lock_at of the claim
-- $3 text[] job ids     $4 bigint[] delay until the next attempt, ms   $5 boolean[] the attempt is charged
-- $6 boolean[] dead now $7 text[] what happened
--
-- The fence is (lock_by, lock_at): a stale holder changes nothing. Returns the ids that were held.
-- Index: jobs_pkey
update apalis.jobs j
   set status      = case when f.dead or (f.charged and j.attempts >= j.max_attempts) then 'Killed' else 'Pending' end,
       done_at     = case when f.dead or (f.charged and j.attempts >= j.max_attempts) then now() end,
       attempts    = case when f.charged or f.dead then j.attempts else greatest(j.attempts - 1, 0) end,
       run_at      = now() + f.delay_ms * interval '1 millisecond',
       last_result = jsonb_build_object('Err', f.reason),
       lock_by     = null,
       lock_at     = null
  from unnest($3::text[], $4::bigint[], $5::boolean[], $6::boolean[], $7::text[])
    as f(id, delay_ms, charged, dead, reason)
 where j.id = f.id and j.status = 'Running' and j.lock_by = $1 and j.lock_at = $2
returning j.id, j.status = 'Killed' as dead
