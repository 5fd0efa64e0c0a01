-- The transactions that have written to a table and are still open: a write keeps its locks, on what it read as well,
-- until its transaction ends.
--
-- :table text   :among text[] only these, or null
--
-- Index: none; pg_locks is no table
select distinct l.virtualtransaction
  from pg_locks l
 where l.locktype = 'relation' and l.relation = :table::text::regclass and l.mode = 'RowExclusiveLock' and l.granted
   and l.database = (select oid from pg_database where datname = current_database())
   and (:among::text[] is null or l.virtualtransaction = any (:among))
