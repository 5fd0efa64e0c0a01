-- Counts duplicates as repeats of their nodes, and returns the nodes. Concurrent repeats all count.
--
-- A node that is edited or forgotten at this moment is waited for, and then left out.
--
-- :namespaces text[]   :robots text[], names   :hashes bytea[] SHA-256 of each content
-- :scopes bigint[] where each content may stand once: 0 in its namespace, -1 among its robot's
--
-- Index: robots_namespace_name_key, nodes_duplicate_key, nodes_pk, repeats_pk
with item as materialized (
    select u.ord, u.namespace, u.content_hash, r.id as robot_id, case u.scope when -1 then r.id else u.scope end as scope
      from unnest(:namespaces::text[], :robots::text[], :hashes::bytea[], :scopes::bigint[]) with ordinality
        as u(namespace, robot, content_hash, scope, ord)
      join htm.robots r on r.namespace = u.namespace and r.name = u.robot
), found as materialized (
    -- Looked up one by one ("limit 1"), whatever the statistics say.
    select i.ord, i.robot_id, i.namespace, i.content_hash, n.id
      from item i
     cross join lateral (select m.id from htm.nodes m
                          where m.namespace = i.namespace and m.duplicate_scope = i.scope
                            and m.content_hash = i.content_hash and m.deleted_at is null
                          limit 1) n
), expiring as materialized (
    select count(*) > 0 as any_expires
      from found f
      join htm.nodes n on n.id = f.id and n.namespace = f.namespace and n.content_hash = f.content_hash and n.deleted_at is null
     where num_nulls(n.expires_at) = 0 -- not by the index of expiries, whatever the statistics say
), held as materialized (
    -- What expires is prolonged in the same transaction: with shared locks, two writers of a text would wait for one another.
    -- The rest is held alike: all who lock several nodes lock them in one order.
    select f.ord, f.robot_id, n.namespace, n.id
      from found f
      join htm.nodes n on n.id = f.id and n.namespace = f.namespace and n.content_hash = f.content_hash and n.deleted_at is null
     where (select any_expires from expiring)
     order by n.id
       for no key update of n
), shared as materialized (
    select f.ord, f.robot_id, n.namespace, n.id
      from found f
      join htm.nodes n on n.id = f.id and n.namespace = f.namespace and n.content_hash = f.content_hash and n.deleted_at is null
     where not (select any_expires from expiring)
     order by n.id
       for share of n
), node as (
    select * from held union all select * from shared
), counted as (
    insert into htm.repeats as r (namespace, node_id, robot_id, count)
    select namespace, id, robot_id, count(*) from node group by namespace, id, robot_id order by id, robot_id
    on conflict (node_id, robot_id, namespace) do update
       set count = r.count + excluded.count, last_at = greatest(r.last_at, excluded.last_at)
)
select ord, id from node
