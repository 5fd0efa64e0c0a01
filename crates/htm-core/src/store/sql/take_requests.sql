-- Takes some of a key's requests of this minute, so that all servers together answer no more than its limit.
--
-- :key text   :limit int   :wanted int
--
-- Index: request_rates_pk
with present as materialized (
    select r.taken from htm.request_rates r where r.key_id = :key and r.minute = date_trunc('minute', now()) for update
), taken as (
    insert into htm.request_rates (key_id, minute, taken)
    values (:key, date_trunc('minute', now()), least(coalesce((select taken from present), 0) + :wanted, :limit))
    on conflict (key_id) do update set minute = excluded.minute, taken = excluded.taken
    returning taken
)
select greatest(t.taken - coalesce((select taken from present), 0), 0) as granted,
       60 - extract(second from now())::float8 as seconds
  from taken t
