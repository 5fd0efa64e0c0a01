-- The live nodes of a namespace whose text has another in it, letter by letter, in any case and any form of the letters; oldest first.
--
-- :namespace text   :text text   :robot text robot whose alone they are, or null: any   :limit bigint
--
-- Index: repeats_pk; nodes_namespace_created_at_idx (every text of the namespace is read)
select n.id as node, n.revision, r.name as robot, n.created_at,
       substr(n.content, greatest(1, strpos(htm.caseless(htm.folded(n.content)), htm.caseless(htm.folded(:text))) - 30), 100) as excerpt
  from htm.nodes n
  join htm.robots r on r.id = n.robot_id
 where n.namespace = :namespace and n.deleted_at is null
   and (:robot::text is null
        or (r.name = :robot
            and not exists (select from htm.repeats p
                             where p.node_id = n.id and p.namespace = n.namespace and p.robot_id <> n.robot_id)))
   and htm.contains(n.content, :text)
 order by n.id
 limit :limit
