-- All nodes in scope, up to :most and one more in each namespace, with the data for the choice of candidates and the
-- ranking: in a small scope, one statement is faster than the legs. Without sorting, only the index by namespace and time
-- is in the order of time. The namespace and the session are those of a turn in a conversation.
--
-- :namespaces text[]   :most int   conditions on the node m
--
-- Index: nodes_namespace_created_at_idx
select m.id, m.created_at, m.speaker, tsvectorsend(m.tsv) as text, turn.namespace, turn.session, m.seq
  from unnest(:namespaces::text[]) s(namespace)
 cross join lateral (
       select m.*
         from htm.visible_nodes m
        where m.namespace = s.namespace and {{conditions}}
        order by m.created_at
        limit :most + 1) m
  left join lateral (select m.namespace, m.session where m.type is distinct from 'passage' and m.session is not null) turn on true
