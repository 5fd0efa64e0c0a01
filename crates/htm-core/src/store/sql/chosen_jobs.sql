-- A condition of list_jobs.sql, retry_jobs.sql and cancel_jobs.sql: the job j is one of those named (:ids), or passes the
-- filters (:queue, :state, :namespace, :node, :error). Without a state, done jobs are left out.
       j.job_type like 'htm.%'
       and (:ids::text[] is null or j.id = any (:ids))
       and (:queue::text is null or j.job_type = :queue)
       and case when :ids is not null then true
                when :state::text is null then j.status <> 'Done'
                when :state = 'due' then j.status = 'Pending' and j.run_at <= now()
                when :state = 'waiting' then j.status = 'Pending' and not j.metadata ? 'parked' and j.run_at > now()
                when :state = 'parked' then j.status = 'Pending' and j.metadata ? 'parked' and j.run_at > now()
                when :state = 'running' then j.status = 'Running'
                when :state = 'done' then j.status = 'Done'
                else j.status = 'Killed' end
       and (:namespace::text is null or j.metadata -> 'namespace' = :namespace)
       and (:node::bigint is null or j.metadata -> 'node' = :node::text)
       and (:error::text is null or strpos(lower(j.last_result ->> 'Err'), lower(:error)) > 0)
