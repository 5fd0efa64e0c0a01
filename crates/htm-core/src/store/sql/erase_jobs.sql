-- Deletes the jobs of the removed nodes of an erasure, in any state, among the next rows after a cursor. One pass sees all of
-- them. Those of other removed nodes are not this erasure's: its receipt counts what is deleted. Rows are locked in the order
-- of acks.
--
-- :erasure bigint   :after text after this job   :limit bigint how many rows
--
-- Index: jobs_pkey, nodes_pk, erased_nodes_pk
with chunk as materialized (
    select id, job_type, metadata from apalis.jobs where id > :after order by id limit :limit
), orphan as materialized (
    select c.id, c.metadata -> 'node' as node
      from chunk c
     where c.job_type like 'htm.%' and c.job_type <> 'htm.learn'
       and not exists (select from htm.nodes n where n.id = (c.metadata -> 'node')::bigint)
), doomed as materialized (
    select j.id
      from apalis.jobs j
     where j.id = any (array(select o.id from orphan o
                              where o.node in (select unnest(e.nodes)::text from htm.erased_nodes e
                                                where e.erasure_id = :erasure and exists (select from orphan))))
     order by j.id
       for update
), gone as (
    delete from apalis.jobs j using doomed d where j.id = d.id
    returning 1
)
select (select max(id) from chunk) as last, (select count(*) from gone) as deleted
