-- Registers unknown robots and locks known ones against removal. Returns the number of the others, which were registered
-- or removed meanwhile: the caller runs it again.
--
-- :namespaces text[]   :names text[]
--
-- Index: robots_namespace_name_key
with wanted as (
    select distinct namespace, name from unnest(:namespaces::text[], :names::text[]) as u(namespace, name)
), registered as (
    insert into htm.robots (namespace, name, last_active)
    select namespace, name, now() from wanted order by namespace, name
    on conflict on constraint robots_namespace_name_key do nothing
    returning namespace, name
), held as (
    -- In the order in which a merge takes them.
    select r.namespace, r.name from htm.robots r join wanted w on r.namespace = w.namespace and r.name = w.name
     order by r.id for key share of r
)
select (select count(*) from wanted) - (select count(*) from (table registered union table held) r)
