-- Moves the expiry of nodes that expire to a later one, or removes it.
--
-- :nodes bigint[]   :expiries timestamptz[] or null   :ttls bigint[] or null, seconds from now to the expiry
--
-- Index: nodes_pk
with wanted as (
    select u.id, case when bool_and(u.at is not null) then max(u.at) end as expires_at,
           case when bool_and(u.at is not null) then max(u.ttl) end as ttl
      from (select id, coalesce(expires_at, now() + ttl * interval '1 second') as at, ttl
              from unnest(:nodes::bigint[], :expiries::timestamptz[], :ttls::bigint[]) as w(id, expires_at, ttl)) u
     group by u.id
), later as materialized (
    select w.*
      from wanted w
      join htm.nodes n on n.id = w.id
     where n.deleted_at is null and n.expires_at is not null
       and (w.expires_at is null or w.expires_at > n.expires_at)
     order by n.id
       for update of n
)
update htm.nodes n set expires_at = l.expires_at, ttl_seconds = l.ttl from later l where n.id = l.id
