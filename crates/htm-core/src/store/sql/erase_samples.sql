-- Deletes the planner's samples of the values of a table, and of the expressions of its indexes. Since PostgreSQL 18.
--
-- :table text
--
-- Index: those of the catalogue
select pg_clear_attribute_stats(s.schemaname::text, s.tablename::text, s.attname::text, s.inherited)
  from pg_stats s
 where s.schemaname in ('htm', 'apalis') -- of other schemas this role may not look up names
   and to_regclass(format('%I.%I', s.schemaname, s.tablename))
       in (select :table::text::regclass
           union all
           select indexrelid from pg_index where indrelid = :table::text::regclass)
