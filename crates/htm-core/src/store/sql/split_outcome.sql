-- The live nodes of a split tag, counted: a row for each new tag, with the nodes that have it or one below it; without a
-- tag, the nodes yet to be tagged; the split tag itself, the nodes that were tagged, still have it and have no new tag.
--
-- :namespace text namespace   :change bigint change
--
-- Index: tag_changes_pk, tag_change_nodes_pk, nodes_pk, jobs_htm_open_idx, tags_namespace_path_key, node_tags_pk
with target as materialized (
    select i.ord, i.path as target, t.id as tag_id
      from htm.tag_changes c
     cross join lateral jsonb_array_elements_text(c.details -> 'into') with ordinality i(path, ord)
      left join htm.tags t
        on t.namespace = :namespace and (t.path = i.path or (t.path >= i.path || ':' and t.path < i.path || ';'))
     where c.id = :change and c.namespace = :namespace and c.kind = 'split'
), node as materialized (
    select n.id,
           exists (select from htm.visible_jobs j
                    where j.job_type like 'htm.%' and j.job_type || '' = 'htm.tag' and j.status in ('Pending', 'Running')
                      and j.status <> 'Done' and j.metadata -> 'namespace' = :namespace collate "default" -- the index's
                      and j.metadata -> 'node' = n.id::text) as waits
      from htm.tag_changes c
      join htm.tag_change_nodes d on d.change_id = c.id and d.namespace = :namespace and not d.added
      join htm.nodes n on n.id = d.node_id and n.namespace = d.namespace and n.deleted_at is null
     where c.id = :change and c.namespace = :namespace and c.kind = 'split'
), has as materialized (
    select distinct g.ord, g.target, n.id
      from node n
      join htm.node_tags a on a.node_id = n.id and a.namespace = :namespace
      join target g on g.tag_id = a.tag_id
     where not n.waits
)
select 0::bigint as ord, null::text as tag, count(*) filter (where waits) as nodes from node
union all
select g.ord, g.target, count(distinct h.id) from target g left join has h on h.ord = g.ord group by 1, 2
union all
select 1000000, c.details ->> 'tag',
       (select count(*) from node n
          join htm.tags t on t.namespace = :namespace and t.path = c.details ->> 'tag'
          join htm.node_tags a on a.node_id = n.id and a.namespace = :namespace and a.tag_id = t.id
         where not n.waits and not exists (select from has h where h.id = n.id))
  from htm.tag_changes c where c.id = :change and c.namespace = :namespace and c.kind = 'split'
order by 1
