-- The stems of words in each language, a word's in one text with lines; none in a language that leaves a word out. The words are
-- in the order in which they are given, and in one row: a misspelled word has hundreds of variants.
--
-- :words text[]   :languages text[]
--
-- Index: none; no table is read
select array(select array_to_string(tsvector_to_array(to_tsvector(l.config::regconfig, htm.normalized(w.word))), E'\n')
               from unnest(:words::text[]) w(word)) as stems
  from unnest(:languages::text[]) l(config)
