-- A page of the live nodes of a namespace, in the order of their time, after a node's place.
--
-- :namespace text   :time timestamptz, :node bigint: the cursor of the page, or null
-- :limit bigint
--
-- Index: nodes_namespace_created_at_idx
select {{node}}
  from (select n.*
          from htm.nodes n
         where n.namespace = :namespace and n.deleted_at is null
           and n.created_at >= coalesce(:time::timestamptz, '-infinity')
           and (n.created_at, n.id) > (coalesce(:time::timestamptz, '-infinity'), coalesce(:node::bigint, 0))
         order by n.created_at, n.id
         limit :limit) m
  join htm.robots r on r.id = m.robot_id
 order by m.created_at, m.id
