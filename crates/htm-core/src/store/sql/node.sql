-- The selected columns of a node: m is the row of htm.nodes, r that of its robot.
       m.id, m.namespace, r.name as robot, m.key, m.content, m.speaker, m.session, m.seq, m.source, m.type as kind,
       m.importance, m.token_count, m.token_encoding, m.metadata, m.revision, m.created_at, m.updated_at,
       m.expires_at, m.ttl_seconds,
       array(select t.path from htm.node_tags nt join htm.tags t on t.id = nt.tag_id
              where nt.node_id = m.id and nt.namespace = m.namespace order by t.path) as tags,
       1 + (select coalesce(sum(p.count), 0)::bigint from htm.repeats p
             where p.node_id = m.id and p.namespace = m.namespace) as remember_count,
       m.remembered_at as first_remembered,
       coalesce((select max(p.last_at) from htm.repeats p
                 where p.node_id = m.id and p.namespace = m.namespace), m.remembered_at) as last_remembered,
{{successors}} as superseded_by
