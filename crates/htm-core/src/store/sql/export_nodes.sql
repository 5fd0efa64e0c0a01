-- A page of the nodes of a namespace, in the order of their time, after a node's place, with all that is stored about each
-- node and cannot be derived. The texts of a page have about :bytes bytes, and its first node is always in it.
--
-- :namespace text   :forgotten bool with forgotten nodes   :limit bigint   :bytes bigint
-- :time timestamptz, :node bigint: the place of the last node of the page before, or null
-- :seen text[] namespaces whose robots are named as keepers; null: all
--
-- A node that waits to be tagged again, as after a split, has no record of its tagger, so that the import enqueues that.
--
-- Index: nodes_namespace_created_at_idx, node_revisions_pk, node_tags_pk, tag_change_nodes_node_idx, repeats_pk,
-- node_absences_pk, relations_pk, relations_to_node_idx, node_accesses_pk, completions_pk, jobs_htm_open_idx, working_memory_node_idx, group_memory_node_idx
select n.id, n.namespace, r.name as robot, n.key, n.content, n.revision, n.author, n.speaker, n.session, n.seq, n.source,
       n.type, n.importance, n.language, n.metadata, n.created_at, n.remembered_at, n.updated_at, n.deleted_at,
       n.forget_reason, n.expires_at, n.ttl_seconds,
       case when n.duplicate_scope = 0 then 'namespace' when n.duplicate_scope is not null then 'robot' end as unique_in,
       case when n.revision > 1 then (select encode(sha256(convert_to(f.content, 'UTF8')), 'hex')
                                        from htm.node_revisions f
                                       where f.node_id = n.id and f.namespace = n.namespace and f.revision = 1)
       end as first_sha256,
       coalesce((select jsonb_agg(jsonb_build_object('tag', t.path, 'origin', a.origin, 'model', a.model,
                                                     'prompt_version', a.prompt_version, 'confidence', a.confidence,
                                                     'at', a.created_at) order by t.path)
                   from htm.node_tags a join htm.tags t on t.id = a.tag_id
                  where a.node_id = n.id and a.namespace = n.namespace), '[]') as tags,
       coalesce((select jsonb_agg(jsonb_build_object('change', d.change_id, 'added', d.added, 'assignment',
                                                     d.assignment - 'created_at'
                                                     || jsonb_build_object('tag', d.path, 'at', d.assignment -> 'created_at'))
                                  order by d.change_id, d.path, d.added)
                   from htm.tag_change_nodes d where d.node_id = n.id and d.namespace = n.namespace), '[]') as retagged,
       coalesce((select jsonb_agg(jsonb_build_object('forgotten_at', b.forgotten_at, 'restored_at', b.restored_at)
                                  order by b.forgotten_at)
                   from htm.node_absences b where b.node_id = n.id and b.namespace = n.namespace), '[]') as absences,
       exists (select from htm.relations x where x.from_node = n.id and x.namespace = n.namespace)
       or exists (select from htm.relations x where x.to_node = n.id and x.namespace = n.namespace) as related,
       coalesce((select jsonb_agg(jsonb_build_object('robot', o.name, 'count', p.count, 'first_at', p.first_at,
                                                     'last_at', p.last_at) order by o.name)
                   from htm.repeats p join htm.robots o on o.id = p.robot_id
                  where p.node_id = n.id and p.namespace = n.namespace), '[]') as repeats,
       (select jsonb_build_object('count', c.access_count, 'last_at', c.last_accessed)
          from htm.node_accesses c where c.node_id = n.id and c.namespace = n.namespace) as recalled,
       coalesce((select jsonb_agg(jsonb_build_object('model', c.model, 'version', c.version, 'outcome', c.outcome,
                                                     'at', c.done_at) order by c.model)
                   from htm.completions c
                  where c.node_id = n.id and c.namespace = n.namespace and c.revision = n.revision and c.stage = 'tag'
                    and not exists (select from htm.visible_jobs j
                                     where j.job_type like 'htm.%' and j.job_type || '' = 'htm.tag'
                                       and j.status in ('Pending', 'Running') and j.status <> 'Done'
                                       and j.metadata -> 'namespace' = n.namespace collate "default" -- the index's
                                       and j.metadata -> 'node' = n.id::text
                                       and j.metadata -> 'revision' = n.revision::text)), '[]') as tagged,
       coalesce((select jsonb_agg(jsonb_build_object('ns', o.namespace, 'robot', o.name, 'added_at', w.added_at,
                                                     'accessed_at', w.accessed_at, 'accesses', w.accesses)
                                  order by o.namespace, o.name)
                   from htm.working_memory w
                   join htm.robots o on o.id = w.robot_id and (:seen::text[] is null or o.namespace = any (:seen))
                  where w.node_id = n.id and w.namespace = n.namespace), '[]') as in_memory_of,
       coalesce((select jsonb_agg(jsonb_build_object('group', g.name, 'robot', o.name, 'added_at', m.added_at,
                                                     'accessed_at', m.accessed_at, 'accesses', m.accesses)
                                  order by g.name)
                   from htm.group_memory m
                   join htm.robot_groups g on g.id = m.group_id and g.namespace = n.namespace
                   left join htm.robots o on o.id = m.robot_id and o.namespace = n.namespace
                  where m.node_id = n.id and m.namespace = n.namespace and m.removed_at is null), '[]') as in_groups
  from (select p.*, sum(octet_length(p.content)) over (order by p.created_at, p.id) - octet_length(p.content) as before
          from (select *
                  from htm.nodes m
                 where m.namespace = :namespace and (:forgotten or m.deleted_at is null)
                   and m.created_at >= coalesce(:time::timestamptz, '-infinity')
                   and (m.created_at, m.id) > (coalesce(:time::timestamptz, '-infinity'), coalesce(:node::bigint, 0))
                 order by m.created_at, m.id
                 limit :limit) p) n
  join htm.robots r on r.id = n.robot_id
 where n.before < :bytes
 order by n.created_at, n.id
