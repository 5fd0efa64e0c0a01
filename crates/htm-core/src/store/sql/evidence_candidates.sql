-- The candidates of recalls that were judged, of all namespaces that learn together. Authors take turns, each with its latest
-- recall: a busy one leaves room for the others.
--
-- :namespace text, whose ranking it is   :features smallint   :most bigint
--
-- Index: learning_with_idx, recalls_namespace_idx, feedback_pk, recall_candidates_pk
with judged as (
    select distinct r.number, r.namespace, r.made_at, r.missed, f.author
      from htm.learning l
      join htm.recalls r on r.namespace = l.namespace
      join htm.feedback f on f.recall = r.number and f.namespace = r.namespace
     where l.learns_with = :namespace and l.is_on and r.judged and r.features = :features
), placed as (
    select number, namespace, made_at, missed,
           row_number() over (partition by author order by made_at desc, number desc) as turn
      from judged
), recall as (
    select number, namespace, made_at, missed
      from placed
     group by number, namespace, made_at, missed
     order by min(turn), made_at desc
     limit :most
)
select recall.number as recall, recall.made_at as at, recall.missed, c.node_id as node, c.shown, c.features
  from recall
  join htm.recall_candidates c on c.recall = recall.number and c.namespace = recall.namespace
 order by recall.made_at, recall.number, c.place
