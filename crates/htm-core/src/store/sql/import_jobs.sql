-- Enqueues the jobs that imported nodes lack, for every model in use and for tags, as remember.sql does. The nodes are
-- new: no job of theirs can exist. targets.sql is before it.
--
-- Of each node: :namespaces text[]   :nodes bigint[]   :priorities int[] of its jobs
-- Of all: :max_attempts int
--
-- Index: nodes_pk, completions_pk
insert into apalis.jobs (id, job_type, job, status, attempts, max_attempts, run_at, priority, metadata, idempotency_key)
select apalis.generate_ulid(), t.queue,
       convert_to(json_build_object('v', 1, 'node', n.id, 'revision', n.revision)::text, 'UTF8'),
       'Pending', 0, :max_attempts, now(), u.priority,
       hstore(array['namespace', n.namespace, 'node', n.id::text, 'revision', n.revision::text]),
       concat_ws('/', n.id, n.revision, 0, t.model)
  from unnest(:namespaces::text[], :nodes::bigint[], :priorities::int[]) u(namespace, node, priority)
  join htm.nodes n on n.id = u.node and n.namespace = u.namespace and n.deleted_at is null
 cross join target t
 where not exists (select from htm.completions c
                    where c.node_id = n.id and c.namespace = n.namespace and c.revision = n.revision and c.stage = t.stage
                      and (t.done_by is null or c.model = t.done_by))
