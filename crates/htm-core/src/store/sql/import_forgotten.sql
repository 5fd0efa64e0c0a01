-- The forgotten nodes with the keys of memories, the newest of each key. A key that a live node has is not forgotten. Each is
-- looked up by itself, so that one partition is read.
--
-- Of each memory: :namespaces text[]   :keys text[]; both are null for one that is not looked for
--
-- Index: nodes_forgotten_key_idx, nodes_namespace_key_key
select u.ord, n.id
  from unnest(:namespaces::text[], :keys::text[]) with ordinality as u(namespace, key, ord)
 cross join lateral (
       select m.id
         from htm.nodes m
        where m.namespace = u.namespace and m.key = u.key and m.deleted_at is not null
          and not exists (select from htm.nodes h
                           where h.namespace = u.namespace and h.key = u.key and h.deleted_at is null)
        order by m.id desc
        limit 1) n
