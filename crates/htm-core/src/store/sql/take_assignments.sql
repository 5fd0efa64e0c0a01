-- Removes tags from all their nodes, and logs the removed assignments. The nodes are locked before.
--
-- :change bigint   :namespace text   :tags text[]
--
-- Index: tags_namespace_path_key, node_tags_tag_idx
with gone as (
    delete from htm.node_tags a
     using htm.tags t
     where a.tag_id = t.id and a.namespace = :namespace and t.namespace = :namespace and t.path = any (:tags)
    returning a.*, t.path
), logged as (
    insert into htm.tag_change_nodes (change_id, namespace, node_id, path, added, assignment)
    select :change, namespace, node_id, path, false, to_jsonb(g) - '{namespace,node_id,tag_id,path}'::text[] from gone g
)
select count(distinct node_id) from gone
