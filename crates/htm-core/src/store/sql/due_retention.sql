-- Takes the retention policy that no sweep has taken for the longest time, with the times that it means now.
--
-- :before timestamptz only one that was last taken before
--
-- Index: retention_swept_at_idx, retention_pk
update htm.retention r
   set swept_at = clock_timestamp()
  from (select namespace from htm.retention
         where swept_at is null or swept_at < :before
            or swept_at > now() + interval '1 hour' -- the clock was set back since
         order by swept_at nulls first, namespace
         limit 1
           for update skip locked) due
 where r.namespace = due.namespace
returning r.namespace, now() - r.forget_after_seconds * interval '1 second' as forget_before,
          now() - r.purge_after_seconds * interval '1 second' as purge_before
