-- Enqueues the nodes of a tag to be tagged again, behind every live job, and logs their assignments. A node with a
-- waiting job needs no other: the job is held until the commit, so its worker reads the new tags. A running job may have
-- read the former ones, and a job of another tag's split ends if that is reverted.
--
-- :change bigint   :namespace text   :tag text   :model text   :max_attempts int   :priority int
--
-- Index: tags_namespace_path_key, node_tags_tag_idx, nodes_pk, jobs_htm_open_idx, idx_jobs_idempotency_key
with tagged as materialized (
    select a.*, n.revision, n.deleted_at
      from htm.tags t
      join htm.node_tags a on a.tag_id = t.id and a.namespace = :namespace
      join htm.nodes n on n.id = a.node_id and n.namespace = a.namespace
     where t.namespace = :namespace and t.path = :tag
), waiting as materialized (
    select t.node_id
      from tagged t
      join htm.visible_jobs j on j.job_type like 'htm.%' and j.job_type || '' = 'htm.tag' and j.status = 'Pending'
                             and j.metadata -> 'namespace' = t.namespace collate "default" -- the index's
                             and j.metadata -> 'node' = t.node_id::text
                             and j.metadata -> 'revision' = t.revision::text
     where t.deleted_at is null
       and (coalesce(split_part(j.idempotency_key, '/', 3), '') not like 'split-%'
            or split_part(j.idempotency_key, '/', 3) in (select 'split-' || c.id from htm.tag_changes c
                                                          where c.namespace = :namespace and c.kind = 'split'
                                                            and c.details ->> 'tag' = :tag))
     order by j.id
       for update of j
), logged as (
    insert into htm.tag_change_nodes (change_id, namespace, node_id, path, added, assignment)
    select :change, t.namespace, t.node_id, :tag, false,
           to_jsonb(t) - '{namespace,node_id,tag_id,revision,deleted_at}'::text[]
      from tagged t
), job as (
    insert into apalis.jobs (id, job_type, job, status, attempts, max_attempts, run_at, priority,
                             metadata, idempotency_key)
    select apalis.generate_ulid(), 'htm.tag',
           convert_to(json_build_object('v', 1, 'node', t.node_id, 'revision', t.revision)::text, 'UTF8'),
           'Pending', 0, :max_attempts, now(), :priority,
           hstore(array['namespace', t.namespace, 'node', t.node_id::text, 'revision', t.revision::text]),
           concat_ws('/', t.node_id, t.revision, 'split-' || :change, :model)
      from tagged t
     where t.deleted_at is null
       and t.node_id not in (select node_id from waiting)
    on conflict (job_type, idempotency_key) do nothing
    returning 1
)
select count(*) from job
