-- The number of open transactions that began before the last removal of an erasure ended: vacuum frees nothing that one of
-- them may still read. Null if the role cannot see the sessions of others.
--
-- :erasure bigint
--
-- Index: erasures_pk
with removal as (
    select age(changed_by::xid) as age from htm.erasures where id = :erasure
)
select case when pg_has_role('pg_read_all_stats', 'USAGE') then
           (select count(*)
              from pg_stat_activity a, removal r
             where a.pid <> pg_backend_pid() and a.backend_type in ('client backend', 'walsender')
               and (a.datname = current_database() or a.backend_type = 'walsender')
               and greatest(age(a.backend_xmin), age(a.backend_xid)) >= r.age)
         + (select count(*) from pg_prepared_xacts p, removal r
             where p.database = current_database() and age(p.transaction) >= r.age)
         + (select count(*) from pg_replication_slots s, removal r where s.xmin is not null and age(s.xmin) >= r.age)
       end
