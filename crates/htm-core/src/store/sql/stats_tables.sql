-- What each table of HTM and of its jobs takes on disk, the largest first. Asks the file system: milliseconds.
--
-- Index: none; the catalogue
select n.nspname || '.' || c.relname as name, nullif(c.reltuples, -1)::bigint as rows,
       pg_table_size(c.oid) as table_bytes, pg_indexes_size(c.oid) as index_bytes
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
 where n.nspname in ('htm', 'apalis') and c.relkind = 'r'
 order by pg_total_relation_size(c.oid) desc, name
