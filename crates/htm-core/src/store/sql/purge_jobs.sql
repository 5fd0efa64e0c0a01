-- Deletes done jobs of removed nodes among the next rows after a cursor. One pass sees all of them. Jobs are locked in the
-- order of their ids, as acks lock them.
--
-- :after text after this job   :limit bigint how many rows   :namespace text or null
--
-- Index: jobs_pkey, nodes_pk
with chunk as materialized (
    select id, job_type, status, metadata from apalis.jobs where id > :after order by id limit :limit
), orphan as materialized (
    select c.id
      from chunk c
     where c.job_type like 'htm.%' and c.job_type <> 'htm.learn' and c.status = 'Done'
       and (:namespace::text is null or c.metadata -> 'namespace' = :namespace)
       and not exists (select from htm.nodes n where n.id = (c.metadata -> 'node')::bigint)
), gone as (
    delete from apalis.jobs
     where id = any (array(select id from apalis.jobs
                            where id = any (array(select id from orphan)) and status = 'Done'
                            order by id
                              for update))
    returning 1
)
select (select max(id) from chunk) as last, (select count(*) from gone) as deleted
