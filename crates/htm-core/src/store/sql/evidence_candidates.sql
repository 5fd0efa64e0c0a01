-- The candidates of the latest recalls that were judged, of all namespaces that learn together.
--
-- :namespace text, whose ranking it is   :features smallint   :most bigint
--
-- Index: learning_with_idx, recalls_namespace_idx, recall_candidates_pk
with recall as (
    select r.number, r.namespace, r.made_at, r.missed
      from htm.learning l
      join htm.recalls r on r.namespace = l.namespace
     where l.learns_with = :namespace and l.is_on and r.judged and r.features = :features
     order by r.made_at desc
     limit :most
)
select recall.number as recall, recall.made_at as at, recall.missed, c.node_id as node, c.shown, c.features
  from recall
  join htm.recall_candidates c on c.recall = recall.number and c.namespace = recall.namespace
 order by recall.made_at, recall.number, c.place
