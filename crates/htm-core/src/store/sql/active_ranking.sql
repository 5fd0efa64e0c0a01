-- The learning settings and the active ranking of a namespace: its own ranking, or that of the namespace that it learns
-- with. No row: the default ranking, without learning.
--
-- :namespace text
--
-- Index: learning_pk, rankings_pk
select l.is_on, l.keeps_text, l.signals, home.version, home.trial, home.trial_kind, r.learnt, t.learnt as tried
  from htm.learning l
  join htm.learning home on home.namespace = l.learns_with
  left join htm.rankings r on r.namespace = home.namespace and r.version = home.version
  left join htm.rankings t on t.namespace = home.namespace and t.version = home.trial
 where l.namespace = :namespace
