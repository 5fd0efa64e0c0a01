-- The progress of an embedding model: its vectors of current texts, its jobs, its index, its size.
--
-- {{store}} is its table, htm.embeddings_<id>, or an empty relation if that was dropped.
--
-- :queue text   :store text its table's name   :index text its index's name
--
-- Index: nodes_pk, jobs_htm_open_idx
select (select count(*) from htm.nodes where deleted_at is null) as nodes,
       (select count(*)
          from {{store}} e
          join htm.nodes n on n.id = e.node_id and n.namespace = e.namespace and n.revision = e.revision
         where n.deleted_at is null) as embedded,
       j.open, j.dead,
       coalesce((select indisvalid from pg_index where indexrelid = to_regclass(:index)), false) as indexed,
       coalesce(htm.table_bytes(to_regclass(:store)), 0) as bytes
  from (select count(*) filter (where status <> 'Killed') as open, count(*) filter (where status = 'Killed') as dead
          from apalis.jobs where job_type like 'htm.%' and job_type = :queue and status <> 'Done') j
