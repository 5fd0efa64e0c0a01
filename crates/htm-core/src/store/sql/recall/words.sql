-- The lexemes of a text in each language, with their positions and their numbers of nodes in the namespaces. A lexeme
-- without statistics is counted live: it is new, therefore rare. In a namespace without statistics, and in one that is a
-- small part of the whole, the nodes are read for that if they are fewer than 2,000. Otherwise the lexeme is looked up in
-- the index of words: `offset 0` keeps the planner from adding the namespace to that look-up.
--
-- :namespaces text[]   :languages text[]   :text text   :parts text[] words of exact terms that full text would not see
-- :is_small_part boolean
--
-- Index: lexeme_statistics_pk; nodes_tsv_idx (a lexeme that nothing has counted); nodes_namespace_created_at_idx (a
-- namespace without statistics, or a small part)
with uncounted as materialized (
    select s.namespace
      from unnest(:namespaces::text[]) s(namespace)
     where :is_small_part
        or not exists (select from htm.namespace_statistics c
                        where c.namespace = s.namespace and c.refreshed_at is not null)
),
sample as materialized (
    select u.namespace, m.tsv
      from uncounted u
     cross join lateral (
           select m.tsv
             from htm.nodes m
            where m.namespace = u.namespace and m.deleted_at is null
            order by m.created_at
            limit 2000) m
),
-- Of a larger one, a word may be outside the sample.
sampled as materialized (
    select u.namespace from uncounted u
     where (select count(*) from sample s where s.namespace = u.namespace) < 2000
),
asked as materialized (
    select x.lexeme, bool_and(t.is_part) as is_part,
           array_agg(l.language::int order by l.language, place) filter (where place is not null) as languages,
           array_agg(place::int order by l.language, place) filter (where place is not null) as places
      from unnest(:languages::text[]) with ordinality l(config, language)
     cross join (select :text::text, false union all select unnest(:parts::text[]), true) t(text, is_part)
     cross join unnest(to_tsvector(l.config::regconfig, htm.segmented(t.text))) x
      left join lateral (select p from unnest(x.positions) p where not t.is_part) p(place) on true
     group by 1
)
select a.lexeme, a.is_part, coalesce(a.languages, '{}') as languages, coalesce(a.places, '{}') as places,
       (select sum(coalesce(
                   (select s.node_count from htm.lexeme_statistics s
                     where s.namespace = n.namespace and s.lexeme = a.lexeme),
                   case when n.namespace in (select namespace from sampled)
                        then (select count(*) from sample s where s.namespace = n.namespace and s.tsv @@ q.query)
                        else (select count(*)
                                from (select from (select m.namespace, m.deleted_at from htm.visible_nodes m
                                                    where m.tsv @@ q.query
                                                   offset 0) m
                                       where m.namespace = n.namespace and m.deleted_at is null
                                       limit 1000) seen) end))
          from unnest(:namespaces::text[]) n(namespace))::float8 as nodes
  from asked a
 cross join lateral (
       select ('''' || replace(replace(a.lexeme, '\', '\\'), '''', '''''') || '''')::tsquery as query) q
