-- The nodes that existed at a time and still have the same text. A forgotten node existed until it was
-- forgotten. Fields without history, such as importance, have their current values.
--
-- :as_of timestamptz
--
-- Index: that of the statement, node_absences_pk
select n.id, n.namespace, n.robot_id, n.key, n.content, n.revision, n.author, n.speaker, n.session, n.seq, n.source, n.type,
       n.importance, n.token_count, n.token_encoding, n.language, n.metadata, n.created_at, n.remembered_at, n.updated_at,
       null::timestamptz as deleted_at, n.expires_at, n.ttl_seconds, n.tsv
  from htm.visible_nodes n
 where (n.updated_at <= :as_of or n.revision = 1)
   and n.remembered_at <= :as_of and (n.deleted_at is null or n.deleted_at > :as_of)
   and not exists (select from htm.node_absences a
                    where a.node_id = n.id and a.namespace = n.namespace
                      and a.forgotten_at <= :as_of and a.restored_at > :as_of)
