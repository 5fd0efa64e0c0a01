-- The forgotten nodes that memories of another system became: with their keys, and with their texts now or at first. Where a
-- live node has the key, that one counts. Each key is looked up by itself, so that one partition is read.
--
-- Of each memory: :namespaces text[]   :keys text[] or null   :hashes bytea[] SHA-256 of the text
--
-- Index: nodes_forgotten_key_idx, nodes_namespace_key_key, node_revisions_pk
select u.ord, n.id
  from unnest(:namespaces::text[], :keys::text[], :hashes::bytea[]) with ordinality as u(namespace, key, content_hash, ord)
 cross join lateral (
       select m.id
         from htm.nodes m
        where m.namespace = u.namespace and m.key = u.key and m.deleted_at is not null
          and u.content_hash in (m.content_hash,
                                 (select sha256(convert_to(f.content, 'UTF8')) from htm.node_revisions f
                                   where f.node_id = m.id and f.namespace = m.namespace and f.revision = 1))
          and not exists (select from htm.nodes h
                           where h.namespace = u.namespace and h.key = u.key and h.deleted_at is null)
        order by m.id desc
        limit 1) n
