-- Writes the time at which robots were last seen, at most once a minute a robot over all processes. A robot that another
-- transaction writes at this moment is skipped.
--
-- :namespaces text[]   :names text[]   :ago_ms bigint[] milliseconds since each was seen
--
-- Index: robots_namespace_name_key, robots_pk
with seen as (
    select r.id, now() - u.ago_ms * interval '1 millisecond' as at
      from unnest(:namespaces::text[], :names::text[], :ago_ms::bigint[]) as u(namespace, name, ago_ms)
      join htm.robots r on r.namespace = u.namespace and r.name = u.name
     order by r.id
       for no key update of r skip locked
)
update htm.robots r set last_active = s.at
  from seen s
 where r.id = s.id and (r.last_active is null or r.last_active < s.at - interval '1 minute')
