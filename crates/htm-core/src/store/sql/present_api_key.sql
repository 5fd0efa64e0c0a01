-- A key that a client presents. Its use is noted at most once a minute.
--
-- :id text   :digest bytea of the presented secret part
--
-- Index: api_keys_pk
with used as (
    update htm.api_keys
       set last_used_at = now()
     where id = :id and digest = :digest and revoked_at is null and (expires_at is null or expires_at > now())
       and (last_used_at is null or last_used_at < now() - interval '1 minute')
)
select k.*, k.digest = :digest as is_right, coalesce(k.expires_at <= now(), false) as is_expired
  from htm.api_keys k
 where k.id = :id
