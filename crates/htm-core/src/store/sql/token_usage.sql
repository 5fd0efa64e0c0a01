-- The tokens of the memories whose last result of a stage and a model is of the last days, by day, namespace, stage and
-- model. They are those of the texts as they are now: it is no ledger of calls. A job of a split is one of the stage tag.
--
-- :days bigint   :limit bigint
--
-- Index: completions_done_at_idx (BRIN: completions are written in the order of their time); nodes_pk, completions_pk
select (c.done_at at time zone 'utc')::date as day, c.namespace,
       case c.stage when 'split' then 'tag' else c.stage end as stage, c.model, count(*) as jobs, sum(n.token_count)::bigint as tokens
  from htm.completions c
  join htm.nodes n on n.id = c.node_id and n.namespace = c.namespace
 where c.done_at >= (date_trunc('day', now() at time zone 'utc') - (:days - 1) * interval '1 day') at time zone 'utc'
   and not exists (select from htm.completions l
                    where l.node_id = c.node_id and l.namespace = c.namespace and l.model = c.model
                      and l.stage = case c.stage when 'tag' then 'split' when 'split' then 'tag' end
                      and l.done_at > c.done_at)
 group by 1, 2, 3, 4
 order by day desc, tokens desc, c.namespace, stage, c.model
 limit :limit
