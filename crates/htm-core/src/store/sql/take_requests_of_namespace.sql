-- Takes some of the requests that the quota of a namespace allows in this minute. No row: it allows any number.
--
-- :namespace text   :wanted int
--
-- Index: quotas_pk
with present as materialized (
    select q.requests_per_minute as allowed,
           case when q.minute = date_trunc('minute', now()) then q.taken else 0 end as taken
      from htm.quotas q
     where q.namespace = :namespace and q.requests_per_minute is not null
       for update
)
update htm.quotas q
   set minute = date_trunc('minute', now()),
       taken = least(p.taken + :wanted, greatest(p.taken, p.allowed))
  from present p
 where q.namespace = :namespace
returning q.taken - p.taken as granted, 60 - extract(second from now())::float8 as seconds
