-- The forgotten nodes that memories of another system became: with their keys, and with their texts now or at first. Where a
-- live node has the key, that one counts.
--
-- Of each memory: :namespaces text[]   :keys text[] or null   :hashes bytea[] SHA-256 of the text
--
-- Index: nodes_deleted_at_idx, nodes_namespace_key_key, node_revisions_pk
select u.ord, max(n.id)
  from unnest(:namespaces::text[], :keys::text[], :hashes::bytea[]) with ordinality as u(namespace, key, content_hash, ord)
  join htm.nodes n on n.namespace = u.namespace and n.key = u.key and n.deleted_at is not null
 where u.content_hash in (n.content_hash,
                          (select sha256(convert_to(f.content, 'UTF8')) from htm.node_revisions f
                            where f.node_id = n.id and f.namespace = n.namespace and f.revision = 1))
   and not exists (select from htm.nodes h where h.namespace = u.namespace and h.key = u.key and h.deleted_at is null)
 group by u.ord
