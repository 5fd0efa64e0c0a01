-- Moves the assignments of tags to other tags, and logs removed, overwritten and added ones. If a node has both tags, the
-- manual assignment stays, else that of the remaining tag. Of several moved assignments the surest stays.
--
-- The nodes are locked before by a statement of its own (lock_tagged_nodes.sql), so this one sees current assignments.
--
-- :change bigint   :namespace text   :from text[] tags that go   :to text[] where the nodes of each go
--
-- Index: tags_namespace_path_key, node_tags_tag_idx, node_tags_pk
with move as (
    select f.id as from_id, f.path as from_path, t.id as to_id, t.path as to_path
      from unnest(:from::text[], :to::text[]) m(from_path, to_path)
      join htm.tags f on f.namespace = :namespace and f.path = m.from_path
      join htm.tags t on t.namespace = :namespace and t.path = m.to_path
), gone as (
    delete from htm.node_tags a
     using move m
     where a.tag_id = m.from_id and a.namespace = :namespace
    returning a.*, m.from_path, m.to_id, m.to_path
), best as (
    select distinct on (node_id, to_id) *
      from gone
     order by node_id, to_id, origin = 'manual' desc, confidence desc nulls last, from_path
), there as (
    select a.*
      from best b
      join htm.node_tags a on a.node_id = b.node_id and a.namespace = b.namespace and a.tag_id = b.to_id
), put as (
    insert into htm.node_tags as nt (namespace, node_id, tag_id, origin, model, prompt_version, confidence, created_at)
    select namespace, node_id, to_id, origin, model, prompt_version, confidence, created_at from best
     order by node_id, to_id
    on conflict (node_id, tag_id, namespace) do update
       set (origin, model, prompt_version, confidence, created_at)
         = (excluded.origin, excluded.model, excluded.prompt_version, excluded.confidence, excluded.created_at)
     where nt.origin <> 'manual' and excluded.origin = 'manual'
    returning nt.*
), logged as (
    insert into htm.tag_change_nodes (change_id, namespace, node_id, path, added, assignment)
    select :change, g.namespace, g.node_id, g.from_path, false,
           jsonb_build_object('origin', g.origin, 'model', g.model, 'prompt_version', g.prompt_version,
                              'confidence', g.confidence, 'created_at', g.created_at)
      from gone g
    union all
    select :change, p.namespace, p.node_id, b.to_path, true, to_jsonb(p) - '{namespace,node_id,tag_id}'::text[]
      from put p
      join best b on b.node_id = p.node_id and b.to_id = p.tag_id
    union all
    select :change, p.namespace, p.node_id, b.to_path, false, to_jsonb(t) - '{namespace,node_id,tag_id}'::text[]
      from put p
      join best b on b.node_id = p.node_id and b.to_id = p.tag_id
      join there t on t.node_id = p.node_id and t.tag_id = p.tag_id
)
select count(distinct node_id) from gone
