-- Adds to the numbers of removed rows of a receipt, and marks its last removal.
--
-- :erasure bigint   :tables text[]   :rows bigint[] removed from each   :tags bigint[] tags that the nodes had
--
-- Index: erasures_pk
update htm.erasures e
   set removed = (select coalesce(jsonb_object_agg(name, total), '{}')
                    from (select a.name, sum(a.rows) as total
                            from (select name, rows::bigint from jsonb_each_text(e.removed) r(name, rows)
                                  union all
                                  select name, rows from unnest(:tables::text[], :rows::bigint[]) u(name, rows)) a
                           group by a.name) s),
       tags = array(select unnest(e.tags) union select unnest(:tags::bigint[])),
       changed_at = clock_timestamp(),
       changed_by = pg_current_xact_id()
 where e.id = :erasure
