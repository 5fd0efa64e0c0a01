-- Writes changes of a namespace's ontology with new numbers, in their order. Gives for each its place, its number here, and
-- whether it is new.
--
-- :namespace text, whose changes of names the caller has locked   :actions text[]   :details jsonb[]   :makers text[]
-- :times timestamptz[]   :nodes bigint[]
--
-- Index: tag_changes_made_at_idx
with given as materialized (
    select u.*
      from unnest(:actions::text[], :details::jsonb[], :makers::text[], :times::timestamptz[], :nodes::bigint[])
           with ordinality u(kind, details, made_by, made_at, nodes, ord)
), known as materialized (
    select distinct on (g.ord) g.ord, c.id
      from given g
      join htm.tag_changes c on c.made_at = g.made_at and c.namespace = :namespace and c.kind = g.kind
     order by g.ord, c.id
), made as (
    insert into htm.tag_changes (namespace, kind, details, made_by, made_at, nodes)
    select :namespace, g.kind, g.details, g.made_by, g.made_at, g.nodes
      from given g
     where not exists (select from known k where k.ord = g.ord)
     order by g.ord
    returning id, kind, made_at
)
select g.ord, coalesce(k.id, m.id) as id, k.id is null as is_new
  from given g
  left join known k on k.ord = g.ord
  left join made m on k.id is null and m.kind = g.kind and m.made_at = g.made_at
 order by g.ord, id
