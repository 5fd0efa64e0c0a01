-- The tags of {{namespaces}} (text[]) that are meant by {{paths}} (text[]) and {{prefixes}} (boolean[]), with the place of
-- the name in the list. A former name means its tag; one that could be none is of nobody. A prefix stops at the colon: `data`
-- means data and data:x, never database.
--
-- Index: tags_namespace_path_key, tag_synonyms_pk
select distinct f.ord, t.id
      from unnest({{paths}}::text[], {{prefixes}}::boolean[]) with ordinality f(given, is_prefix, ord)
     cross join unnest({{namespaces}}::text[]) s(namespace)
     cross join lateral (values (f.given), (htm.tag_meant(s.namespace, f.given))) n(path)
      join htm.tags t
        on t.namespace = s.namespace
       and (t.path = n.path or (f.is_prefix and t.path >= n.path || ':' and t.path < n.path || ';'))
