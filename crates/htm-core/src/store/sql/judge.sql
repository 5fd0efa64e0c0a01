-- Records an author's verdicts on candidates of a recall. A later verdict replaces an earlier one of the same signal.
--
-- :recall bigint   :namespace text   :author text   :signal text   :nodes bigint[]   :used boolean[]
--
-- Index: recall_candidates_pk
insert into htm.feedback (namespace, recall, node_id, author, signal, is_used)
select :namespace, :recall, v.node, :author, :signal, v.is_used
  from unnest(:nodes::bigint[], :used::boolean[]) v(node, is_used)
  join htm.recall_candidates c on c.recall = :recall and c.node_id = v.node and c.namespace = :namespace
 order by v.node
on conflict (recall, node_id, author, signal, namespace)
do update set is_used = excluded.is_used, given_at = now()
returning node_id, is_used
