-- The number of tables from which an erasure removed rows, and of whose values the planner has samples from before: they
-- were not analyzed since, or they are empty, which an analyze passes over. And the number of columns with samples that
-- contain a text.
--
-- :erasure bigint   :forms text[] forms of the text
--
-- Index: those of the catalogue, erasures_pk
select count(distinct s.tablename)
           filter (where e.removed ? (s.schemaname || '.' || coalesce(parent.relname, s.tablename))
                     and (coalesce(greatest(t.last_analyze, t.last_autoanalyze) <= e.changed_at, true) or c.reltuples = 0)),
       count(*)
           filter (where exists (select from unnest(:forms::text[]) f(form)
                                  where htm.caseless(f.form) <> ''
                                    and strpos(htm.caseless(concat_ws(' ', s.most_common_vals::text, s.histogram_bounds::text,
                                                                        s.most_common_elems::text)),
                                               htm.caseless(f.form)) > 0))
  from htm.erasures e
 cross join pg_stats s
  join pg_stat_all_tables t on (t.schemaname, t.relname) = (s.schemaname, s.tablename)
  join pg_class c on c.oid = t.relid
  left join pg_inherits i on i.inhrelid = c.oid
  left join pg_class parent on parent.oid = i.inhparent -- of a partition
 where e.id = :erasure and s.schemaname in ('htm', 'apalis')
