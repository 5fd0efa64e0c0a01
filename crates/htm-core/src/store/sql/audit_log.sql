-- The last entries of the audit log, together with the changes of the ontology, the newest first.
--
-- :seen text[] the namespaces that are meant, with `a/*` for those below `a`, or null for all   :limit bigint
--
-- Index: audit_log_pk, tag_changes_pk
select at, actor, action, namespace, subject, details
  from ((select a.at, a.actor, a.action, a.namespace, a.subject, a.details
           from htm.audit_log a
          where :seen::text[] is null or htm.is_within(a.namespace, :seen)
          order by a.id desc limit :limit)
        union all
        (select c.made_at, coalesce(c.made_by, ''), 'tags.' || c.kind, c.namespace, c.id::text,
                jsonb_build_object('memories', c.nodes)
           from htm.tag_changes c
          where :seen::text[] is null or htm.is_within(c.namespace, :seen)
          order by c.id desc limit :limit)) entry (at, actor, action, namespace, subject, details)
 order by at desc
 limit :limit
