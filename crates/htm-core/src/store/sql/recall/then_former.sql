-- The nodes that existed at a time and have another text now, with the former text and its words.
--
-- :as_of timestamptz
--
-- Index: that of the statement, or nodes_rewritten_idx; node_revisions_pk, node_absences_pk
select n.id, n.namespace, n.robot_id, n.key, f.content, f.revision, f.author, n.speaker, n.session, n.seq, n.source, n.type,
       n.importance, n.token_count, n.token_encoding, n.language, n.metadata, n.created_at, n.remembered_at,
       f.written_at as updated_at, null::timestamptz as deleted_at, n.expires_at, n.ttl_seconds,
       htm.text_vector(n.language, f.content) as tsv
  from htm.visible_nodes n
 cross join lateral (select * from htm.node_revisions f
                      where f.node_id = n.id and f.namespace = n.namespace and f.written_at <= :as_of
                      order by f.revision desc limit 1) f
 where n.revision > 1 and n.updated_at > :as_of
   and n.remembered_at <= :as_of and (n.deleted_at is null or n.deleted_at > :as_of)
   and not exists (select from htm.node_absences a
                    where a.node_id = n.id and a.namespace = n.namespace
                      and a.forgotten_at <= :as_of and a.restored_at > :as_of)
