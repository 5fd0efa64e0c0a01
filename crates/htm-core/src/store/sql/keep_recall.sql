-- Keeps a recall with its candidates, for a day. If candidates were removed meanwhile, they and the text of the query are
-- left out: the query may quote them.
--
-- :id text   :namespace text   :author text   :features smallint   :version int   :query text or null
-- :trial int or null   :trial_kind text or null   :differs boolean or null
-- of each candidate   :nodes bigint[]   :shown smallint[], 0: it was no hit   :by_trial boolean[]   :vectors bytea[]
--
-- Index: nodes_pk, learning_pk
insert into htm.recalls (id, namespace, author, features, version, shown, query, trial, trial_kind, differs, keep_until,
                         candidates, candidates_shown, candidates_by_trial, candidates_features)
select :id, :namespace, :author, :features, :version, count(*) filter (where c.shown > 0),
       case when count(*) = cardinality(:nodes::bigint[])
             and (select l.keeps_text from htm.learning l where l.namespace = :namespace) then :query end,
       :trial, :trial_kind, :differs, now() + interval '1 day',
       coalesce(array_agg(c.node order by c.place), '{}'), coalesce(array_agg(c.shown order by c.place), '{}'),
       coalesce(array_agg(c.by_trial order by c.place), '{}'), coalesce(string_agg(c.features, '' order by c.place), '')
  from unnest(:nodes::bigint[], :shown::smallint[], :by_trial::boolean[], :vectors::bytea[])
              with ordinality c(node, shown, by_trial, features, place)
 where exists (select from htm.nodes n where n.id = c.node and n.namespace = :namespace)
having count(*) > 0
