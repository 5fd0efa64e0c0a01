-- The signs of a query as conditions of full text, in each language.
--
-- :namespaces text[]   :languages text[]   :signs jsonb, see model Sign
--
-- Index: lexeme_statistics_pk (beginnings of words), lexeme_statistics_trigram_idx (terms within longer lexemes)
select lexed.query, coalesce(lexed.is_short, true) as is_short,
       array(select distinct x.lexeme
               from unnest(:languages::text[]) l(config)
              cross join unnest(to_tsvector(l.config::regconfig, htm.normalized(concat_ws(' ', s.text, s.parts)))) x) as lexemes,
       (select coalesce(sum(x.node_count), 0)::float8
          from unnest(s.beginnings) b(beginning)
         cross join lateral (
               select node_count from htm.lexeme_statistics
                where namespace = any (:namespaces)
                  and lexeme >= b.beginning and lexeme < b.beginning || chr(1114111)
                limit 1000) x) as nodes
  from rows from (jsonb_to_recordset(:signs) as (kind text, text text, beginnings text[], also text, within text, parts text))
       with ordinality s(kind, text, beginnings, also, within, parts, ord)
 cross join lateral (
       select string_agg('(' || part || ')', ' | ') filter (where part <> '') as query, bool_or(part = '') as is_short
         from (select case when s.kind = 'prefix' then plainto_tsquery(l.config::regconfig, htm.normalized(s.text))
                           else phraseto_tsquery(l.config::regconfig, htm.normalized(s.text)) end::text as part
                 from unnest(:languages::text[]) l(config)
                union
               select s.also where s.also is not null
                union
               -- `recall.rs` in `src/store/recall.rs`
               (select '''' || replace(replace(x.lexeme, '\', '\\'), '''', '''''') || ''''
                  from htm.lexeme_statistics x
                 where s.within is not null and x.namespace = any (:namespaces) and x.lexeme like s.within
                 order by x.node_count desc
                 limit 16)) parts) lexed
 order by s.ord
