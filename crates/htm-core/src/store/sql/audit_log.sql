-- The last entries of the audit log, together with the changes of the ontology, the newest first.
--
-- :seen text[] the namespaces that are meant, with `a/*` for those below `a`, or null for all
-- :time timestamptz, :number bigint: the cursor of the page, or null   :limit bigint
--
-- Index: none; both tables are read, which have a row for each act of an administrator
select number, at, actor, action, namespace, subject, details
  from (select 2 * a.id, a.at, a.actor, a.action, a.namespace, a.subject, a.details
          from htm.audit_log a
         where :seen::text[] is null or htm.is_within(a.namespace, :seen)
        union all
        select 2 * c.id + 1, c.made_at, coalesce(c.made_by, ''), 'tags.' || c.kind, c.namespace, c.id::text,
               jsonb_build_object('memories', c.nodes)
          from htm.tag_changes c
         where :seen::text[] is null or htm.is_within(c.namespace, :seen)
       ) entry (number, at, actor, action, namespace, subject, details)
 where :time::timestamptz is null or (at, number) < (:time, :number::bigint)
 order by at desc, number desc
 limit :limit
