-- The later changes in force that have a name of a change in their logs, the last one first: the name, the change to revert,
-- and whether it builds on what the change made of the name, which may mean the same again.
--
-- A change is in force, too, if its revert was reverted: the last of these reverts is the one to revert. A later change that
-- leaves a tag as it is builds on a change of it if it is a split, or if both have changed the assignments of a node: the later
-- one has added none where the tag was there. A name that the change moved takes what came later with it.
--
-- :namespace text   :change bigint   :path text another name to look for, or null for those of the change
--
-- Index: tag_changes_namespace_idx, tag_changes_pk, tag_change_names_pk, tag_change_nodes_pk
with recursive later as (
    select c.id as made, c.kind, c.id as last, c.reverted_by, 0 as reverts
      from htm.tag_changes c
     where c.namespace = :namespace and c.id > :change
       and not exists (select from htm.tag_changes undone
                        where undone.namespace = :namespace and undone.id > :change and undone.reverted_by = c.id)
    union all
    select l.made, l.kind, c.id, c.reverted_by, l.reverts + 1
      from later l
      join htm.tag_changes c on c.id = l.reverted_by
), named as (
    select m.path, m.after is null as is_gone,
           m.after -> 'tag' is not null and m.moved_from is null as is_there
      from htm.tag_change_names m
     where m.change_id = :change and :path::text is null
    union all
    select :path::text, false, false where :path::text is not null
)
select m.path, l.last,
       n.before is distinct from n.after or m.is_gone
       or (m.is_there
           and (l.kind = 'split'
                or exists (select from htm.tag_change_nodes a
                             join htm.tag_change_nodes b on b.node_id = a.node_id and b.namespace = a.namespace
                            where a.change_id = :change and a.namespace = :namespace and a.path = m.path and a.added
                              and b.change_id in (l.made, l.last)))) as builds
  from later l
  join htm.tag_change_names n on n.change_id in (l.made, l.last)
  join named m on m.path = n.path or m.path = n.moved_from
 where l.reverted_by is null and l.reverts % 2 = 0
 order by l.last desc, builds desc, m.path
