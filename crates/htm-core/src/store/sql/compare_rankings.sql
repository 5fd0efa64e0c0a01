-- The results of a tried ranking on live recalls of the namespaces that learn together: its differences in the shadow,
-- and its wins and losses, judged recalls that used more or fewer of its hits than of the other ranking's. The other
-- ranking is the last one that answered beside it: its version, and the number of recalls beside earlier ones.
--
-- :home text   :version int
--
-- Index: learning_with_idx, recalls_namespace_idx, recall_candidates_pk, feedback_pk
with tried as (
    select r.number, r.namespace, r.version, r.trial_kind, r.differs, r.judged,
           r.version = first_value(r.version) over (order by r.made_at desc, r.number desc) as is_of_last
      from htm.recalls r
      join htm.learning l on l.namespace = r.namespace and l.learns_with = :home
     where r.trial = :version
), balance as (
    select t.number,
           count(distinct c.node_id) filter (where c.by_trial) - count(distinct c.node_id) filter (where not c.by_trial) as ahead
      from tried t
      join htm.recall_candidates c on c.recall = t.number and c.namespace = t.namespace and c.by_trial is not null
      join htm.feedback f on f.recall = c.recall and f.node_id = c.node_id and f.namespace = c.namespace and f.is_used
     where t.trial_kind = 'interleaved' and t.judged and t.is_of_last
     group by t.number
)
select count(*) filter (where is_of_last and trial_kind = 'shadow'),
       count(*) filter (where is_of_last and trial_kind = 'shadow' and differs),
       (select count(*) from balance), (select count(*) from balance where ahead > 0),
       (select count(*) from balance where ahead < 0),
       max(version) filter (where is_of_last), count(*) filter (where not is_of_last)
  from tried
