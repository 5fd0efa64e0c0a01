-- The numbers of open jobs of namespaces, each of at most :most.
--
-- The index has dead letters too, of which a namespace may have a million. No more than :read rows are read: a namespace with
-- as many has :most, since what the rest of them are is not known.
--
-- :namespaces text[]   :most bigint   :read bigint
--
-- Index: jobs_htm_open_idx
select n.namespace,
       (select case when bool_or(o.place = :read) then :most::bigint else count(*) end
          from (select j.place
                  from (select status, row_number() over () as place -- counted row by row, up to the limits
                          from htm.visible_jobs
                         where job_type like 'htm.%' and status <> 'Done' and metadata -> 'namespace' = n.namespace
                         limit :read) j
                 where j.status <> 'Killed' or j.place = :read
                 limit :most) o) as open
  from unnest(:namespaces::text[]) as n(namespace)
