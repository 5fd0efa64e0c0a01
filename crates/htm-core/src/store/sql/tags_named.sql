-- The tags of {{namespaces}} (text[]) named by {{paths}} (text[]) and {{prefixes}} (boolean[]), with the place of the
-- name in the list. A synonym matches its tag. A name that cannot be a tag matches nothing. A prefix stops at the colon:
-- `data` matches data and data:x, never database.
--
-- Index: tags_namespace_path_key, tag_synonyms_pk
select distinct f.ord, t.id
      from unnest({{paths}}::text[], {{prefixes}}::boolean[]) with ordinality f(given, is_prefix, ord)
     cross join unnest({{namespaces}}::text[]) s(namespace)
     cross join lateral (values (f.given), (htm.tag_meant(s.namespace, f.given))) n(path)
      join htm.tags t
        on t.namespace = s.namespace
       and (t.path = n.path or (f.is_prefix and t.path >= n.path || ':' and t.path < n.path || ';'))
