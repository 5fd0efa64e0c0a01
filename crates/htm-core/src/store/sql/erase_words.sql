-- The number of words in the statistics of a namespace that none of its texts has, forgotten ones included.
--
-- :namespace text
--
-- Index: lexeme_statistics_pk, nodes_namespace_created_at_idx
select count(*)
  from htm.lexeme_statistics s
 where s.namespace = :namespace
   and not exists (select from ts_stat(format('select tsv from htm.nodes where namespace = %L', :namespace::text)) w
                    where w.word collate "C" = s.lexeme)
