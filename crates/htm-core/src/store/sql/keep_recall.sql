-- Keeps a recall with its candidates, for a day. Candidates that are gone by now are left out.
--
-- :id text   :namespace text   :author text   :features smallint   :version int   :query text or null
-- :trial int or null   :trial_kind text or null   :differs boolean or null
-- of each candidate   :nodes bigint[]   :shown int[], 0: it was no hit   :by_trial boolean[]   :vectors bytea[]
--
-- Index: nodes_pk
with kept as (
    insert into htm.recalls (id, namespace, author, features, version, shown, query, trial, trial_kind, differs, keep_until)
    select :id, :namespace, :author, :features, :version, count(*) filter (where shown > 0), :query,
           :trial, :trial_kind, :differs, now() + interval '1 day'
      from unnest(:shown::int[]) s(shown)
    returning number
)
insert into htm.recall_candidates (namespace, recall, node_id, place, shown, by_trial, features)
select :namespace, kept.number, c.node, c.place, nullif(c.shown, 0), c.by_trial, c.features
  from kept, unnest(:nodes::bigint[], :shown::int[], :by_trial::boolean[], :vectors::bytea[])
               with ordinality c(node, shown, by_trial, features, place)
  join htm.nodes n on n.id = c.node and n.namespace = :namespace
 order by c.node
   for key share of n
