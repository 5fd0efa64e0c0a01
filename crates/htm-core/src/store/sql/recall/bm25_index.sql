-- The oldest valid index of pg_textsearch on all texts, found by its kind, with its text search configuration.
--
-- Index: none; the catalog's own
select i.indexrelid::regclass::text as name, o.option_value as language
  from pg_index i
  join pg_class c on c.oid = i.indexrelid
  join pg_am a on a.oid = c.relam and a.amname = 'bm25'
  join pg_attribute t on t.attrelid = i.indrelid and t.attnum = i.indkey[0] and t.attname = 'content'
 cross join lateral pg_options_to_table(c.reloptions) o
 where i.indrelid = 'htm.nodes'::regclass and i.indisvalid and i.indpred is null and c.relkind = 'i'
   and o.option_name = 'text_config'
 order by c.oid
 limit 1
