-- The disk space of each index of HTM and of its jobs, the largest first. Asks the file system: milliseconds.
--
-- Index: none; the catalogue
select i.relname as name, n.nspname || '.' || t.relname as table, size.bytes
  from pg_index x
  join pg_class i on i.oid = x.indexrelid
  join pg_class t on t.oid = x.indrelid
  join pg_namespace n on n.oid = t.relnamespace
 cross join lateral (select sum(pg_relation_size(leaf))::bigint as bytes from htm.leaves(i.oid) leaf) size
 where n.nspname in ('htm', 'apalis') and not i.relispartition
 order by bytes desc, name
