-- Deletes the done jobs whose node is gone, among the next rows after a cursor: walked through once, they are all seen.
--
-- $1 text after this job   $2 bigint how many rows   $3 text namespace or null
--
-- Index: jobs_pkey, nodes_pk
with chunk as materialized (
    select id, job_type, status, metadata from apalis.jobs where id > $1 order by id limit $2
), gone as (
    delete from apalis.jobs j
     using chunk c
     where j.id = c.id and c.job_type like 'htm.%' and j.status = 'Done'
       and ($3::text is null or c.metadata -> 'namespace' = $3)
       and not exists (select from htm.nodes n where n.id = (c.metadata -> 'node')::bigint)
    returning 1
)
select (select max(id) from chunk) as last, (select count(*) from gone) as deleted
