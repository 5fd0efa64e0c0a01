-- The candidates of recalls that were judged, of all namespaces that learn together. Authors take turns, each with the recall
-- in which it last found something: a busy one leaves room for the others, and one that only refuses has no turn.
--
-- :namespace text, whose ranking it is   :features smallint   :most bigint
--
-- For each author, one step in the index and its latest verdicts of use are read: at most ten times :most verdicts.
--
-- Index: learning_with_idx, feedback_author_idx, feedback_used_idx, recalls_pk, recall_candidates_pk
with recursive author as (
    select l.namespace, (select min(f.author) from htm.feedback f where f.namespace = l.namespace) as name
      from htm.learning l
     where l.learns_with = :namespace and l.is_on
    union all
    select a.namespace,
           (select min(f.author) from htm.feedback f where f.namespace = a.namespace and f.author > a.name)
      from author a
     where a.name is not null
), judged as (
    select r.number, r.namespace, r.made_at, r.missed,
           row_number() over (partition by a.name order by max(v.given_at) desc, r.number desc) as turn
      from author a
     cross join lateral (
           select f.recall, f.given_at
             from htm.feedback f
            where f.namespace = a.namespace and f.author = a.name and f.is_used
            order by f.given_at desc, f.recall desc
            limit 10 * :most) v
      join htm.recalls r on r.number = v.recall and r.namespace = a.namespace
     where r.judged and r.features = :features
     group by a.name, r.number, r.namespace
), recall as (
    select number, namespace, made_at, missed
      from judged
     group by number, namespace, made_at, missed
     order by min(turn), made_at desc, number desc
     limit :most
)
select recall.number as recall, recall.made_at as at, recall.missed, c.node_id as node, c.shown, c.features
  from recall
  join htm.recall_candidates c on c.recall = recall.number and c.namespace = recall.namespace
 order by recall.made_at, recall.number, c.place
