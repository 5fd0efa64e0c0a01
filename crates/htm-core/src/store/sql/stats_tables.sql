-- The disk space of each table of HTM and of its jobs, the largest first. Asks the file system: milliseconds.
--
-- Index: none; the catalogue
select n.nspname || '.' || c.relname as name, size.rows, size.table_bytes, size.index_bytes
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
 cross join lateral (select sum(nullif(l.reltuples, -1))::bigint as rows, sum(pg_table_size(l.oid))::bigint as table_bytes,
                            sum(pg_indexes_size(l.oid))::bigint as index_bytes
                       from htm.leaves(c.oid) leaf join pg_class l on l.oid = leaf) size
 where n.nspname in ('htm', 'apalis') and c.relkind in ('r', 'p') and not c.relispartition
 order by size.table_bytes + size.index_bytes desc, name
