-- The progress of the live nodes, by each embedding model in use and by tags. One pass over the completions, joined with
-- the nodes by hash (at a million nodes two or three seconds), and one over the jobs that are not done.
--
-- :namespace text, or null for all
--
-- Index: completions_model_idx, nodes_namespace_created_at_idx for a small namespace; jobs_htm_open_idx
with node as materialized (
    select id, revision from htm.nodes where deleted_at is null and (:namespace::text is null or namespace = :namespace)
), embedded as (
    select c.model, count(*) as done
      from htm.completions c
      join node n on n.id = c.node_id and n.revision = c.revision
     where c.stage = 'embed' and (:namespace::text is null or c.namespace = :namespace)
     group by c.model
), tagged as (
    select count(*) as done
      from node n
     where exists (select from htm.completions c
                    where c.node_id = n.id and c.revision = n.revision and c.stage = 'tag'
                      and (:namespace::text is null or c.namespace = :namespace))
), job as (
    select job_type as queue,
           count(*) filter (where status = 'Pending' and (not metadata ? 'parked' or run_at <= now())) as pending,
           count(*) filter (where status = 'Pending' and metadata ? 'parked' and run_at > now()) as parked,
           count(*) filter (where status = 'Running') as running,
           count(*) filter (where status in ('Killed', 'Failed')) as dead
      from apalis.jobs
     where job_type like 'htm.%' and status <> 'Done' and (:namespace::text is null or metadata -> 'namespace' = :namespace)
     group by job_type
), stage as (
    select 1 as place, id, 'embed' as stage, label as model, queue, coalesce(e.done, 0) as done
      from htm.embedding_models m
      left join embedded e on e.model = m.label
     where m.state <> 'retired'
    union all
    select 2, 0, 'embed', null, 'htm.embed', 0
     where not exists (select from htm.embedding_models where state <> 'retired')
    union all
    select 3, 0, 'tag', null, 'htm.tag', done from tagged
)
select s.stage, s.model, s.done, coalesce(j.pending, 0) as pending, coalesce(j.parked, 0) as parked,
       coalesce(j.running, 0) as running, coalesce(j.dead, 0) as dead
  from stage s
  left join job j on j.queue = s.queue
 order by s.place, s.id
