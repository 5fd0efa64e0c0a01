-- The live nodes that supersede the node m, the last set first; null if there are none. A node without a relation costs
-- an index look-up.
--
-- Index: relations_to_node_idx, nodes_pk
       case when exists (select from htm.relations x
                          where x.namespace = m.namespace and x.to_node = m.id and x.kind = 'supersedes')
            then (select jsonb_agg(jsonb_build_object('node', s.id, 'created_at', s.created_at,
                                                      'excerpt', left(s.content, 100), 'reason', x.reason,
                                                      'made_at', x.made_at) order by x.made_at desc, s.id desc)
                    from htm.relations x
                    join htm.nodes s on s.namespace = x.namespace and s.id = x.from_node and s.deleted_at is null
                   where x.namespace = m.namespace and x.to_node = m.id and x.kind = 'supersedes') end
