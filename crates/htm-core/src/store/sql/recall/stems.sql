-- The stems of words in each language; none in a language that leaves a word out. A misspelled word has hundreds of variants:
-- to sort them would take longer than to stem them.
--
-- :words text[]   :languages text[]
--
-- Index: none; no table is read
select w.word, tsvector_to_array(to_tsvector(l.config::regconfig, w.word)) as stems
  from unnest(:words::text[]) w(word)
 cross join unnest(:languages::text[]) l(config)
