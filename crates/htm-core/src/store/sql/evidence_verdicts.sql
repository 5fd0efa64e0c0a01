-- The verdicts on recalls, by author and memory: the feedback, or else any signal of use.
--
-- :namespace text, whose ranking it is   :recalls bigint[]
--
-- Index: learning_with_idx, feedback_pk
select f.recall, f.author, f.node_id as node,
       coalesce(bool_or(f.is_used) filter (where f.signal = 'told'), bool_or(f.is_used)) as is_used
  from htm.learning l
  join htm.feedback f on f.namespace = l.namespace
 where l.learns_with = :namespace and f.recall = any (:recalls)
 group by f.recall, f.author, f.node_id
