-- The lexemes of a text in each language, with their positions.
--
-- :languages text[]   :text text   :parts text[] words of exact terms that full text would not see
--
-- Index: none; no table is read
select x.lexeme, bool_and(t.is_part) as is_part,
       coalesce(array_agg(l.language::int order by l.language, place) filter (where place is not null), '{}') as languages,
       coalesce(array_agg(place::int order by l.language, place) filter (where place is not null), '{}') as places
  from unnest(:languages::text[]) with ordinality l(config, language)
 cross join (select :text::text, false union all select unnest(:parts::text[]), true) t(text, is_part)
 cross join unnest(to_tsvector(l.config::regconfig, htm.segmented(t.text))) x
  left join lateral (select p from unnest(x.positions) p where not t.is_part) p(place) on true
 group by 1
