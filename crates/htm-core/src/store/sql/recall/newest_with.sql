-- The text leg for one frequent word: the newest nodes with it, among the :most newest of each namespace. All nodes
-- with the word have the same weight, and the index of words would return all of them.
--
-- :namespaces text[]   :word tsquery   :most int nodes looked at   :pool int candidates   conditions on the node m
--
-- Index: nodes_namespace_created_at_idx
select m.id
  from unnest(:namespaces::text[]) s(namespace)
 cross join lateral (
       select m.id, m.created_at, m.tsv
         from htm.visible_nodes m
        where m.namespace = s.namespace and {{conditions}}
        order by m.created_at desc
        limit :most) m
 where m.tsv @@ :word::tsquery
 order by m.created_at desc, m.id desc
 limit :pool
