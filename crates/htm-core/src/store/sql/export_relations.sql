-- A page of the relations whose nodes are both in the export, in the order of these. The two nodes may contradict each other
-- and supersede one another: a page has all relations between them.
--
-- :namespaces text[] or null: all   :forgotten bool with forgotten nodes   :limit bigint
-- :from, :to bigint: the nodes of the last relation of the page before, or 0
--
-- Index: relations_pk, nodes_pk
select x.namespace, x.from_node, x.kind, x.to_node, x.reason, x.robot, x.made_at
  from htm.relations x
  join htm.nodes f on f.id = x.from_node and f.namespace = x.namespace
  join htm.nodes t on t.id = x.to_node and t.namespace = x.namespace
 where (x.from_node, x.to_node) > (:from, :to)
   and (:namespaces::text[] is null or x.namespace = any (:namespaces))
   and (:forgotten or f.deleted_at is null and t.deleted_at is null)
 order by x.from_node, x.to_node
 fetch first (:limit) rows with ties
