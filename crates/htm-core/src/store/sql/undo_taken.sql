-- Restores the assignments that a change removed, and logs this. Current assignments of a node stay.
--
-- A model's assignment is restored only on nodes that no model has tagged since, or on all with :also_if_tagged_since.
--
-- :change bigint change that undoes   :namespace text   :undone bigint change that is undone
-- :also_if_tagged_since boolean
--
-- Index: tag_change_nodes_pk, tags_namespace_path_key, node_tags_pk, completions_pk
with back as (
    insert into htm.node_tags (namespace, node_id, tag_id, origin, model, prompt_version, confidence, created_at)
    select c.namespace, c.node_id, t.id, a.origin, a.model, a.prompt_version, a.confidence, a.created_at
      from htm.tag_change_nodes c
      join htm.tags t on t.namespace = :namespace and t.path = c.path
     cross join lateral jsonb_populate_record(null::htm.node_tags, c.assignment) a
     where c.change_id = :undone and c.namespace = :namespace and not c.added
       and (:also_if_tagged_since or a.origin = 'manual'
            or not exists (select from htm.completions d
                             join htm.tag_changes made on made.id = :undone
                            where d.node_id = c.node_id and d.namespace = c.namespace and d.stage = 'tag' and d.done_at > made.made_at))
     order by 2, 3
    on conflict (node_id, tag_id, namespace) do nothing
    returning *
), logged as (
    insert into htm.tag_change_nodes (change_id, namespace, node_id, path, added, assignment)
    select :change, b.namespace, b.node_id, t.path, true, to_jsonb(b) - '{namespace,node_id,tag_id}'::text[]
      from back b
      join htm.tags t on t.id = b.tag_id
)
select count(distinct node_id) from back
