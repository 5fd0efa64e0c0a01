-- The tokens of the memories whose last result of a stage and a model is of the last days, by day, namespace, stage and
-- model. They are those of the texts as they are now: it is no ledger of calls.
--
-- :days bigint   :limit bigint
--
-- Index: completions_done_at_idx (BRIN: completions are written in the order of their time); nodes_pk
select (c.done_at at time zone 'utc')::date as day, c.namespace, c.stage, c.model,
       count(*) as jobs, sum(n.token_count)::bigint as tokens
  from htm.completions c
  join htm.nodes n on n.id = c.node_id and n.namespace = c.namespace
 where c.done_at >= (date_trunc('day', now() at time zone 'utc') - (:days - 1) * interval '1 day') at time zone 'utc'
 group by 1, 2, 3, 4
 order by day desc, tokens desc, c.namespace, c.stage, c.model
 limit :limit
