-- A part of list_jobs.sql, status.sql and fail_jobs.sql: the state of the job j, for people. Null without a job.
case when j.status = 'Running' then 'running'
     when j.status = 'Done' then 'done'
     when j.status <> 'Pending' then 'dead'
     when j.run_at <= now() then 'due'
     when j.metadata ? 'parked' then 'parked'
     when j.status = 'Pending' then 'waiting' end
