-- The verdicts on recalls, by author and memory: the feedback, or else any signal of use.
--
-- :recalls bigint[]
--
-- Index: feedback_pk
select recall, author, node_id as node,
       coalesce(bool_or(is_used) filter (where signal = 'told'), bool_or(is_used)) as is_used
  from htm.feedback
 where recall = any (:recalls)
 group by recall, author, node_id
