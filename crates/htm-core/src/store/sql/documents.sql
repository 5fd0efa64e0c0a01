-- Documents of a namespace in the order of their paths, each with the number of its passages that are not forgotten.
--
-- :namespace text   :path text the only one, or null   :after text the paths behind this one, or null
-- :below text the path of a directory, whose documents alone are meant, `.` for all with relative paths, or null
-- :limit bigint
--
-- Index: documents_pk, nodes_session_idx
select d.namespace, d.path, d.kind, d.title, d.bytes, d.digest, d.tags, d.passages as loaded, d.loaded_at, d.changed_at,
       (select count(*) from htm.nodes n
         where n.namespace = d.namespace and md5(n.session) = md5(d.path) and n.session = d.path and n.type = 'passage'
           and n.key like 'passage:%'
           and n.deleted_at is null) as passages
  from htm.documents d
 where d.namespace = :namespace
   and (:path::text is null or d.path = :path)
   and (:after::text is null or d.path > :after)
   and (:below::text is null or d.path = :below or starts_with(d.path, :below || '/')
        or :below = '.' and not starts_with(d.path, '/') and not starts_with(d.path, '../'))
 order by d.path
 limit :limit
