-- The joint effect of undo_added.sql, undo_taken.sql and move_assignments.sql before they run: the number of changed
-- nodes, including those of renamed tags, and the tags among some that nodes would still have.
--
-- :namespace text   :undone bigint change that would be undone
-- :also_if_tagged_since boolean also give back what was tagged since
-- :renamed text[] tags that would be called otherwise   :called text[] what each would be called
-- :merged text[] tags whose assignments would go elsewhere   :made text[] tags that the change made
--
-- Index: tag_change_nodes_pk, tags_namespace_path_key, node_tags_pk, node_tags_tag_idx, completions_pk
with called as (
    select * from unnest(:renamed::text[], :called::text[]) c(now, after)
), logged as (
    select c.node_id, c.path, c.added, c.assignment,
           (select case when (a.origin = 'manual') then true
                        else not exists (select from htm.completions d
                                           join htm.tag_changes made on made.id = :undone
                                          where d.node_id = c.node_id and d.namespace = :namespace and d.stage = 'tag'
                                            and d.done_at > made.made_at)
                   end
              from jsonb_populate_record(null::htm.node_tags, c.assignment) a) as stands
      from htm.tag_change_nodes c
     where c.change_id = :undone and c.namespace = :namespace
), gone as materialized (
    select a.node_id, a.tag_id
      from logged c
      join htm.tags t on t.namespace = :namespace and t.path = c.path
      join htm.node_tags a on a.node_id = c.node_id and a.namespace = :namespace and a.tag_id = t.id
     where c.added and c.stands and to_jsonb(a) - '{namespace,node_id,tag_id}'::text[] = c.assignment
), back as (
    -- By the name before the change; of a tag that is called so only now, nothing is there.
    select c.node_id
      from logged c
      left join called on called.after = c.path
      left join htm.tags t
        on t.namespace = :namespace
       and t.path = coalesce(called.now, case when c.path = any (:renamed) then null else c.path end)
     where not c.added and (c.stands or :also_if_tagged_since)
       and not exists (select from htm.node_tags a
                        where a.node_id = c.node_id and a.namespace = :namespace and a.tag_id = t.id)
), moved as (
    select a.node_id
      from htm.tags t
      join htm.node_tags a on a.tag_id = t.id and a.namespace = :namespace
     where t.namespace = :namespace and (t.path = any (:renamed) or t.path = any (:merged))
)
select (select count(distinct node_id)
          from (select node_id from gone union all select node_id from back union all select node_id from moved) n),
       array(select t.path
               from htm.tags t
              where t.namespace = :namespace and t.path = any (:made)
                and exists (select from htm.node_tags a
                             where a.tag_id = t.id and a.namespace = :namespace
                               and not exists (select from gone g where g.node_id = a.node_id and g.tag_id = a.tag_id)))
