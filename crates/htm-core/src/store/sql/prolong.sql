-- Moves the expiry of live nodes that expire to a later one, or removes it. The longest time to live stays. Holds these
-- nodes, also those that are not prolonged. Returns each that expired: whether it was prolonged, and whether it was
-- forgotten meanwhile.
--
-- :namespaces text[]   :nodes bigint[]   :expiries timestamptz[] or null   :ttls bigint[] or null, seconds from now
--
-- Index: nodes_pk
with wanted as (
    select u.namespace, u.id, case when bool_and(u.at is not null) then max(u.at) end as expires_at,
           case when bool_and(u.at is not null) then max(u.ttl) end as ttl
      from (select namespace, id, coalesce(expires_at, now() + ttl * interval '1 second') as at, ttl
              from unnest(:namespaces::text[], :nodes::bigint[], :expiries::timestamptz[], :ttls::bigint[])
                as w(namespace, id, expires_at, ttl)) u
     group by u.namespace, u.id
), expiring as materialized (
    -- Found by id: without an expiry at the last ANALYZE, the index of expiries would be read whole.
    select w.*
      from wanted w
      join htm.nodes n on n.namespace = w.namespace and n.id = w.id
     where n.deleted_at is null and num_nulls(n.expires_at) = 0
), held as materialized (
    select e.*, n.expires_at as present
      from expiring e
      join htm.nodes n on n.namespace = e.namespace and n.id = e.id
     where n.deleted_at is null and num_nulls(n.expires_at) = 0
     order by n.id
       for no key update of n
), prolonged as (
    update htm.nodes n
       set expires_at = h.expires_at,
           ttl_seconds = case when h.expires_at is not null then greatest(n.ttl_seconds, h.ttl) end
      from held h
     where n.namespace = h.namespace and n.id = h.id and (h.expires_at is null or h.expires_at > h.present)
 returning n.id
)
select e.id, p.id is not null, h.id is null
  from expiring e
  left join held h on h.id = e.id
  left join prolonged p on p.id = e.id
