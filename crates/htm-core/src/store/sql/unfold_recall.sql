-- Makes rows of a recall's candidates, before its first verdict. Candidates that are gone by now are left out.
--
-- :recall bigint   :namespace text
--
-- Index: recalls_pk, nodes_pk
insert into htm.recall_candidates (namespace, recall, node_id, place, shown, by_trial, features)
select :namespace, :recall, c.node, c.place, nullif(c.shown, 0), c.by_trial,
       substring(r.candidates_features from (c.place - 1)::int * r.width + 1 for r.width)
  from (select candidates, candidates_shown, candidates_by_trial, candidates_features,
               octet_length(candidates_features) / greatest(cardinality(candidates), 1) as width
          from htm.recalls where number = :recall and namespace = :namespace and candidates is not null offset 0) r
 cross join unnest(r.candidates, r.candidates_shown, r.candidates_by_trial)
                   with ordinality c(node, shown, by_trial, place)
  join htm.nodes n on n.id = c.node and n.namespace = :namespace
 order by c.node
   for key share of n
-- Two authors may judge it at once.
on conflict do nothing
