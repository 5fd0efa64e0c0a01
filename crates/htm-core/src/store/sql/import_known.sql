-- Nodes, forgotten ones too, that may be those of an export: of the same namespace and times, and with the same first
-- text, as far as that can be told without reading former texts. An import that ended between a memory and its former
-- texts left no first text.
--
-- Of each node of the export: :namespaces text[]   :created timestamptz[]
-- Of all together: :remembered timestamptz[]   :hashes bytea[] SHA-256 of the first texts
--
-- Index: nodes_namespace_created_at_idx, node_revisions_pk
select n.id, n.namespace, n.key, n.speaker, n.session, n.seq, n.created_at, n.remembered_at,
       case when n.revision = 1 then n.content_hash
            else (select sha256(convert_to(f.content, 'UTF8')) from htm.node_revisions f
                   where f.node_id = n.id and f.namespace = n.namespace and f.revision = 1) end as first_hash,
       n.content_hash
  from (select distinct u.namespace, u.created_at
          from unnest(:namespaces::text[], :created::timestamptz[]) u(namespace, created_at)) w
  join htm.nodes n on n.namespace = w.namespace and n.created_at = w.created_at
 where n.remembered_at = any (:remembered) and (n.revision > 1 or n.content_hash = any (:hashes))
 order by n.id
