-- The lexemes of a text in each language, with their positions and their numbers of nodes in the namespaces. A namespace
-- without statistics, and one that is a small part of the whole, is read for that if it has fewer than 2,000 nodes. A lexeme
-- that is nowhere may be new in the other namespaces, which are `unread`: `new_words.sql` looks it up.
--
-- :namespaces text[]   :languages text[]   :text text   :parts text[] words of exact terms that full text would not see
-- :is_small_part boolean
--
-- Index: lexeme_statistics_pk; nodes_namespace_created_at_idx (a namespace without statistics, or a small part)
with uncounted as materialized (
    select s.namespace
      from unnest(:namespaces::text[]) s(namespace)
     where :is_small_part
        or not exists (select from htm.namespace_statistics c
                        where c.namespace = s.namespace and c.refreshed_at is not null)
),
sample as materialized (
    select u.namespace, m.tsv
      from uncounted u
     cross join lateral (
           select m.tsv
             from htm.nodes m
            where m.namespace = u.namespace and m.deleted_at is null
            order by m.created_at
            limit 2000) m
),
-- Of a larger one, a word may be outside the sample.
sampled as materialized (
    select u.namespace from uncounted u
     where (select count(*) from sample s where s.namespace = u.namespace) < 2000
),
asked as materialized (
{{lexemes}})
select a.lexeme, a.is_part, a.languages, a.places, k.nodes,
       case when k.nodes = 0 then array(select n.namespace from unnest(:namespaces::text[]) n(namespace)
                                         where n.namespace not in (select namespace from sampled))
            else '{}' end as unread
  from asked a
 cross join lateral (
       select ('''' || replace(replace(a.lexeme, '\', '\\'), '''', '''''') || '''')::tsquery as query) q
 cross join lateral (
       select coalesce(sum(coalesce(
                  (select s.node_count from htm.lexeme_statistics s
                    where s.namespace = n.namespace and s.lexeme = a.lexeme),
                  case when n.namespace in (select namespace from sampled)
                       then (select count(*) from sample s where s.namespace = n.namespace and s.tsv @@ q.query) end)),
                  0)::float8 as nodes
         from unnest(:namespaces::text[]) n(namespace)) k
