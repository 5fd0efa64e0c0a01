-- What the ranking has to know of nodes: each looked up by itself, whatever the planner thinks; a join would read the whole
-- store. A tsvector is unpacked once a node ("ts_delete" of nothing), not once a word.
--
-- :nodes bigint[]   :vector halfvec   words see features_words.sql
--
-- Index: nodes_pk; the store's primary key
select m.id, lower(m.speaker) as speaker, m.created_at, {{length}} as length, {{similarity}}, {{words}}
  from unnest(:nodes::bigint[]) c(id)
 cross join lateral (select n.* from htm.nodes n where n.id = c.id offset 0) m
 {{document}}
 {{embedding}}
