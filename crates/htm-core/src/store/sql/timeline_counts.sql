-- The numbers of nodes in each step of time, by robot or by the first part of their tags on request. The earliest come
-- first.
--
-- :step text 'year' to 'minute', in UTC   :limit int rows   conditions on the node m
-- group: its expression, or null   groups: its tables   count: of nodes
--
-- Index: nodes_namespace_created_at_idx
select date_trunc(:step, m.created_at, 'UTC') as start, {{group}} as name, {{count}} as memories
  from htm.visible_nodes m
  {{groups}}
 where {{conditions}}
 group by 1, 2
 order by 1, 3 desc, 2
 limit :limit
