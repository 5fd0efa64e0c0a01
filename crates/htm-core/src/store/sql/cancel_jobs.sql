-- Makes dead letters of waiting and running jobs. A running job loses its lease: its worker's ack matches no row.
-- The condition is chosen_jobs.sql.
--
-- :ids text[] or null   :queue text or null   :state text or null   :namespace text or null   :node bigint or null
-- :error text a part of the error or null
--
-- Index: jobs_pkey, jobs_htm_open_idx, idx_apalis_jobs_fetch_partial
with chosen as (
    select j.id
      from htm.visible_jobs j
     where {{chosen}}
       and j.status in ('Pending', 'Running')
     order by j.id
       for update
)
update apalis.jobs j
   set status = 'Killed', done_at = now(), lock_by = null, lock_at = null,
       last_result = jsonb_build_object('Err', 'cancelled by an operator'),
       metadata = delete(j.metadata, array['parked', 'deferred_since'])
  from chosen c
 where j.id = c.id
returning j.id
