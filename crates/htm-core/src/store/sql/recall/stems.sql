-- The stems of words in each language; none of a word that a language leaves out, for it is a word of that language.
--
-- :words text[]   :languages text[]
--
-- Index: none; no table is read
select w.word, array_agg(distinct x.lexeme) as stems
  from unnest(:words::text[]) w(word)
 cross join unnest(:languages::text[]) l(config)
 cross join unnest(to_tsvector(l.config::regconfig, w.word)) x
 where not exists (select from unnest(:languages::text[]) o(config) where to_tsvector(o.config::regconfig, w.word) = '')
 group by w.word
