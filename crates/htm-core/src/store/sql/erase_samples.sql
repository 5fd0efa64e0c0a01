-- Deletes the planner's samples of the values of a table. Since PostgreSQL 18.
--
-- :table text
--
-- Index: those of the catalogue
select pg_clear_attribute_stats(s.schemaname::text, s.tablename::text, s.attname::text, s.inherited)
  from pg_stats s
 where s.schemaname || '.' || s.tablename = :table
