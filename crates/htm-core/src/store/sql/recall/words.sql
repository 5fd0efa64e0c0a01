-- The lexemes of a text in each language, where they stand in it, and how many nodes of the namespaces have each. One that
-- the statistics have not seen is counted live: it is new, therefore rare.
--
-- :namespaces text[]   :languages text[]   :text text   :parts text[] words of exact terms that full text would not see
--
-- Index: lexeme_statistics_pk; nodes_tsv_idx (a lexeme that nothing has counted)
with asked as materialized (
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
                   (select count(*)
                      from (select from (select m.namespace, m.deleted_at from htm.visible_nodes m
                                          where m.tsv @@ ('''' || replace(replace(a.lexeme, '\', '\\'), '''', '''''') || '''')::tsquery
                                         offset 0) m
                             where m.namespace = n.namespace and m.deleted_at is null
                             limit 1000) seen)))
          from unnest(:namespaces::text[]) n(namespace))::float8 as nodes
  from asked a
