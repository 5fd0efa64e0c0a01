-- All nodes in scope, up to :most and one more in each namespace, with the data for the choice of candidates and the
-- ranking: in a small scope, one statement is faster than the legs. Without sorting, only the index by namespace and time
-- is in the order of time. The namespace and the session are those of a turn in a conversation. There may be thousands of
-- nodes: all are in one row, which is sent and read in half the time of theirs. A text of more than :largest bytes is null.
--
-- :namespaces text[]   :most int   :largest int   conditions on the node m
--
-- Index: nodes_namespace_created_at_idx
select array_agg(m.id) as nodes, array_agg(m.created_at) as created_at, array_agg(m.speaker) as speakers,
       array_agg(case when pg_column_size(m.tsv) <= :largest then tsvectorsend(m.tsv) end) as texts,
       array_agg(case when turn.is_one then m.namespace end) as namespaces,
       array_agg(case when turn.is_one then m.session end) as sessions, array_agg(m.seq) as places
  from unnest(:namespaces::text[]) s(namespace)
 cross join lateral (
       select m.*
         from htm.visible_nodes m
        where m.namespace = s.namespace and {{conditions}}
        order by m.created_at
        limit :most + 1) m
 cross join lateral (select m.type is distinct from 'passage' and m.session is not null as is_one) turn
having count(*) > 0
