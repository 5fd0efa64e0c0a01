-- What each index of HTM and of its jobs takes on disk, the largest first. Asks the file system: milliseconds.
--
-- Index: none; the catalogue
select i.relname as name, n.nspname || '.' || t.relname as table, pg_relation_size(i.oid) as bytes
  from pg_index x
  join pg_class i on i.oid = x.indexrelid
  join pg_class t on t.oid = x.indrelid
  join pg_namespace n on n.oid = t.relnamespace
 where n.nspname in ('htm', 'apalis')
 order by bytes desc, name
