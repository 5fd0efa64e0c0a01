-- A part of recall.sql: what the query asks for by signs (recall/words.rs) in each language of the namespaces.
--
-- Index: nodes_language_idx; lexeme_statistics_trigram_idx; nodes_tsv_idx (phrased)
language as materialized (
    -- The query's own, and those that nodes have: a step in the index each.
    with recursive step as (
        select s.namespace, (select min(m.language) from htm.nodes m where m.namespace = s.namespace) as name
          from unnest($1::text[]) s(namespace)
         where $8::text is not null or $30::jsonb <> '[]'
        union all
        select s.namespace, (select min(m.language) from htm.nodes m where m.namespace = s.namespace and m.language > s.name)
          from step s
         where s.name is not null
    )
    select $10::text::regconfig as config
    union
    select name::regconfig from (select distinct name from step where name is not null limit 8) present
),
sign as materialized (
    select s.kind, s.pattern, s.text, s.parts,
           -- What full text cannot look for has to be there as written.
           s.written or lexed.query is null or lexed.is_short as written,
           lexed.query
      from jsonb_to_recordset($30::jsonb) s(kind text, text text, pattern text, written boolean, also text, within text, parts text)
     cross join lateral (
           select string_agg('(' || part || ')', ' | ') filter (where part <> '')::tsquery as query,
                  coalesce(bool_or(part = ''), true) as is_short
             from (select phraseto_tsquery(l.config, s.text)::text as part from language l where s.kind <> 'prefix'
                    union
                   select plainto_tsquery(l.config, s.text)::text from language l where s.kind = 'prefix'
                    union
                   select s.also where s.also is not null
                    union
                   -- `recall.rs` in `src/store/recall.rs`
                   (select '''' || replace(replace(x.lexeme, '\', '\\'), '''', '''''') || ''''
                      from htm.lexeme_statistics x
                     where s.within is not null and x.namespace = any ($1) and x.lexeme like s.within
                     order by x.node_count desc
                     limit 16)) parts) lexed
),
phrased as materialized (
    -- The nodes that have every phrase. Of one without any lexeme, each text is read.
    select m.id
      from (select string_agg('(' || s.query::text || ')', ' & ')::tsquery as query, count(*) as phrases
              from sign s where s.kind = 'phrase') needed
      join htm.nodes m on m.tsv @@ needed.query
     where m.namespace = any ($1) and m.deleted_at is null
       and not exists (select from sign s where s.kind = 'phrase' and s.written and m.content !~* s.pattern)
    union all
    select m.id
      from htm.nodes m
     where m.namespace = any ($1) and m.deleted_at is null
       and (select count(*) > 0 and count(query) = 0 from sign where kind = 'phrase')
       and not exists (select from sign s where s.kind = 'phrase' and m.content !~* s.pattern)
),
barred as materialized (
    select case when not written then query end as query, case when written then pattern end as pattern
      from sign
     where kind = 'without'
)
