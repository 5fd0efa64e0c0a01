-- Removes the assignments that a change made and that are still unchanged, and logs this. A model's assignment is removed
-- only from nodes that no model has tagged since.
--
-- :change bigint change that undoes   :namespace text   :undone bigint change that is undone
--
-- Index: tag_change_nodes_pk, tags_namespace_path_key, node_tags_pk, completions_pk
with gone as (
    delete from htm.node_tags a
     using htm.tag_change_nodes c
      join htm.tags t on t.namespace = :namespace and t.path = c.path
     where c.change_id = :undone and c.namespace = :namespace and c.added
       and a.node_id = c.node_id and a.namespace = c.namespace and a.tag_id = t.id
       and to_jsonb(a) - '{namespace,node_id,tag_id}'::text[] = c.assignment
       and (a.origin = 'manual'
            or not exists (select from htm.completions d
                             join htm.tag_changes made on made.id = :undone
                            where d.node_id = a.node_id and d.namespace = a.namespace and d.stage = 'tag' and d.done_at > made.made_at))
    returning a.*, t.path
)
insert into htm.tag_change_nodes (change_id, namespace, node_id, path, added, assignment)
select :change, namespace, node_id, path, false, to_jsonb(g) - '{namespace,node_id,tag_id,path}'::text[] from gone g
