-- The completion and the job of each stage of a node, an open one before a dead letter; for embeddings, of recall's model.
-- Without a completion, the last former revision with one: its result is used meanwhile. The state is job_state.sql.
--
-- :node bigint
--
-- Index: nodes_pk, completions_pk, jobs_htm_open_idx
select s.stage,
       c.model, c.outcome, c.done_at, c.worker as done_by, c.attempt as done_attempt,
       {{state}} as job_state, j.attempts, j.max_attempts, j.run_at, j.lock_by,
       j.last_result ->> 'Err' as last_error, j.metadata -> 'parked' as parked, n.created_at, n.updated_at,
       case when c.node_id is null then former.revision end as stale,
       m.id is not null and m.queue is null as is_of_caller
  from htm.nodes n
 cross join (values (1, 'embed'), (2, 'tag')) s(place, stage)
  left join htm.embedding_models m on s.stage = 'embed' and m.state = 'active'
  left join lateral (select * from htm.completions c
                      where c.node_id = n.id and c.namespace = n.namespace and c.revision = n.revision and c.stage = s.stage
                        and (m.label is null or c.model = m.label)
                      order by c.done_at desc limit 1) c on true
  left join lateral (select * from htm.visible_jobs j
                      where j.job_type like 'htm.%' and j.job_type = case when m.id is null then 'htm.' || s.stage else m.queue end
                        and j.status <> 'Done'
                        and j.metadata -> 'namespace' = n.namespace collate "default" -- the index's
                        and j.metadata -> 'node' = n.id::text
                        and j.metadata -> 'revision' = n.revision::text
                      order by j.status = 'Killed', j.run_at limit 1) j on true
  left join lateral (select max(c.revision) as revision from htm.completions c
                      where c.node_id = n.id and c.namespace = n.namespace and c.revision < n.revision and c.stage = s.stage
                        and (m.label is null or c.model = m.label)) former on true
 where n.id = :node and n.deleted_at is null
 order by s.place
