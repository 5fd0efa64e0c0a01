-- A condition of list_jobs.sql, retry_jobs.sql and cancel_jobs.sql: the job j is one of those named ($1), or passes the
-- filters queue ($2), state ($3), namespace ($4), node ($5) and error ($6). Without a state, done jobs are left out.
       j.job_type like 'htm.%'
       and ($1::text[] is null or j.id = any ($1))
       and ($2::text is null or j.job_type = $2)
       and case when $1 is not null then true
                when $3::text is null then j.status <> 'Done'
                when $3 = 'due' then j.status = 'Pending' and not j.metadata ? 'parked' and j.run_at <= now()
                when $3 = 'waiting' then j.status = 'Pending' and not j.metadata ? 'parked' and j.run_at > now()
                when $3 = 'parked' then j.status = 'Pending' and j.metadata ? 'parked'
                when $3 = 'running' then j.status = 'Running'
                when $3 = 'done' then j.status = 'Done'
                else j.status = 'Killed' end
       and ($4::text is null or j.metadata -> 'namespace' = $4)
       and ($5::bigint is null or j.metadata -> 'node' = $5::text)
       and ($6::text is null or strpos(lower(j.last_result ->> 'Err'), lower($6)) > 0)
