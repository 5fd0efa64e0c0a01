-- Gives nodes to another robot. Of two equal contents, one stays unique and the other no longer counts as a duplicate.
--
-- :from bigint[] robots that give   :into bigint robot that takes   :namespace text, theirs
--
-- Index: nodes_namespace_created_at_idx, nodes_duplicate_key
with given as (
    select id, namespace,
           case when duplicate_scope is distinct from robot_id then duplicate_scope
                when deleted_at is not null then :into::bigint
                when row_number() over (partition by content_hash, deleted_at is null,
                                                     duplicate_scope is not distinct from robot_id
                                        order by id) > 1 then null
                when exists (select from htm.nodes o
                              where o.namespace = :namespace and o.duplicate_scope = :into::bigint
                                and o.content_hash = n.content_hash and o.deleted_at is null) then null
                else :into::bigint end as duplicate_scope
      from htm.nodes n
     where n.namespace = :namespace and n.robot_id = any (:from)
)
update htm.nodes n set robot_id = :into::bigint, duplicate_scope = g.duplicate_scope
  from given g
 where n.id = g.id and n.namespace = g.namespace -- by their ids, whatever the statistics say
