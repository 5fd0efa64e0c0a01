-- Takes some of a key's requests of this minute, so that all servers together answer no more than its limit.
--
-- :key text   :limit int   :wanted int
--
-- Index: request_rates_pk
with present as materialized (
    -- Locked in any minute, so that two servers do not begin the same one.
    select case when r.minute = date_trunc('minute', now()) then r.taken else 0 end as taken
      from htm.request_rates r where r.key_id = :key for update
), taken as (
    insert into htm.request_rates (key_id, minute, taken)
    values (:key, date_trunc('minute', now()), least(coalesce((select taken from present), 0) + :wanted, :limit))
    on conflict (key_id) do update set minute = excluded.minute, taken = excluded.taken
    returning taken
)
select greatest(t.taken - coalesce((select taken from present), 0), 0) as granted,
       60 - extract(second from now())::float8 as seconds
  from taken t
