-- A part of recall.sql: the words that the query asks for, what each of them weighs, and which choose candidates.
--
-- Index: lexeme_statistics_pk, lexeme_statistics_trigram_idx, nodes_tsv_idx (a word that nothing has counted)
corpus as materialized (
    -- The namespaces' statistics; of one without any yet, a count of at most 2,000 nodes. Lengths are in distinct lexemes: a
    -- tsvector knows how many it has without being unpacked. An aggregate has a row whatever its `where` says.
    select coalesce(sum(s.n), 0)::float8 as n, coalesce(sum(s.n * s.average_length) / nullif(sum(s.n), 0), 1)::float8 as average_length,
           coalesce(bool_and(s.is_counted), false) as is_counted
      from unnest($1::text[]) a(namespace)
     cross join lateral (
           select c.node_count::float8 as n, c.average_lexemes::float8 as average_length, true as is_counted
             from htm.namespace_statistics c
            where c.namespace = a.namespace and c.refreshed_at is not null
           union all
           select count(*), greatest(coalesce(avg(length(tsv)), 1), 1), false
             from (select m.tsv from htm.nodes m where m.namespace = a.namespace and m.deleted_at is null limit 2000) sample
           having $8::text is not null
              and not exists (select from htm.namespace_statistics c where c.namespace = a.namespace and c.refreshed_at is not null)) s
),
asked as materialized (
    -- A lexeme that the statistics have not seen is counted live: it is new, therefore rare.
    select q.lexeme, q.is_part,
           (select sum(coalesce((select s.node_count from htm.lexeme_statistics s
                                  where s.namespace = a.namespace and s.lexeme = q.lexeme),
                                (select count(*)
                                   from (select from (select n.namespace, n.deleted_at
                                                        from htm.nodes n
                                                       where n.tsv @@ ('''' || replace(replace(q.lexeme, '\', '\\'), '''', '''''') || '''')::tsquery
                                                      offset 0) m
                                          where m.namespace = a.namespace and m.deleted_at is null
                                          limit 1000) seen)))
              from unnest($1::text[]) a(namespace))::float8 as nodes
      from (select x.lexeme, bool_and(t.is_part) as is_part
              from language l
             cross join (select $8::text, false union all select parts, true from sign where parts is not null) t(text, is_part)
             cross join unnest(to_tsvector(l.config, t.text)) x
             group by 1) q
),
unknown as materialized (
    -- Words as typed that no node has, a few of them; a query that is a long text has words enough. What a language
    -- leaves out is a word of that language.
    select w.word
      from (select distinct lower(t.word) as word from regexp_split_to_table($8::text, '[^[:alnum:]]+') t(word)) w
     where (select count(*) <= 64 and bool_or(nodes = 0) from asked)
       and length(w.word) between 4 and 40
       and not exists (select from language l where to_tsvector(l.config, w.word) = '')
       and not exists (select from language l
                        cross join unnest(to_tsvector(l.config, w.word)) x
                         join asked a on a.lexeme = x.lexeme and a.nodes > 0)
     limit 8
),
sampled as materialized (
    -- The lexemes that there are, as long as nothing has counted them.
    select x.lexeme, count(*)::int as node_count
      from unnest($1::text[]) a(namespace)
     cross join lateral (
           select n.tsv from htm.nodes n
            where n.namespace = a.namespace and n.deleted_at is null and exists (select from unknown)
              and not exists (select from htm.namespace_statistics c where c.namespace = a.namespace and c.refreshed_at is not null)
            limit 2000) m
     cross join unnest(tsvector_to_array(m.tsv)) x(lexeme)
     group by 1
),
swapped as materialized (
    -- The words that it becomes when two letters next to one another change places, where a node has them.
    select u.word, x.lexeme, known.node_count, o.used
      from unknown u
     cross join lateral generate_series(1, length(u.word) - 1) i
     cross join lateral (select overlay(u.word placing reverse(substr(u.word, i, 2)) from i for 2) as used) o
     cross join language l
     cross join lateral unnest(to_tsvector(l.config, o.used)) x
     cross join lateral (
           -- "having": each is looked up; a join would read the whole table.
           (select sum(s.node_count) as node_count from htm.lexeme_statistics s
             where s.namespace = any ($1) and s.lexeme = x.lexeme having count(*) > 0)
           union all
           (select n.node_count from sampled n where n.lexeme = x.lexeme limit 1)) known
),
vocabulary as materialized (
    -- All the lexemes, of a namespace that has few: they are read faster than the index of the trigrams of all namespaces.
    select s.lexeme, s.node_count from htm.lexeme_statistics s
     where s.namespace = any ($1) and exists (select from unknown) limit 3001
),
alike as materialized (
    -- Else the one word that is most like it.
    select u.word, near.lexeme, near.node_count
      from unknown u
     cross join lateral (
           select known.lexeme, known.node_count
             from language l
            cross join lateral unnest(to_tsvector(l.config, u.word)) x
            cross join lateral (
                  select v.lexeme, sum(v.node_count) as node_count from vocabulary v
                   where (select count(*) <= 3000 from vocabulary) and v.lexeme % x.lexeme
                   group by 1
                  union all
                  select s.lexeme, sum(s.node_count) from htm.lexeme_statistics s
                   where (select count(*) > 3000 from vocabulary) and s.namespace = any ($1) and s.lexeme % x.lexeme
                   group by 1
                  union all
                  select n.lexeme, n.node_count from sampled n where n.lexeme % x.lexeme) known
            order by similarity(known.lexeme, x.lexeme) desc, known.node_count desc, known.lexeme
            limit 1) near
     where u.word not in (select word from swapped)
),
correction as materialized (
    select word, used from swapped union select word, lexeme from alike
),
meant as materialized (
    select lexeme, max(nodes) as nodes, bool_and(is_part) as is_part
      from (select lexeme, nodes, is_part from asked where nodes > 0
            union all select lexeme, node_count, false from swapped
            union all select lexeme, node_count, false from alike) m
     group by 1
),
word as materialized (
    -- Of a query that is a long text, its rarest words. What is only a part of an exact term has half its weight.
    select w.*, quoted::tsquery as query, (quoted || ':A')::tsquery as opening,
           ln(1 + greatest(n - nodes + 0.5, 0.5) / (nodes + 0.5)) * case when is_part then 0.5 else 1 end as idf
      from (select q.lexeme, q.nodes, q.is_part, c.n, c.average_length,
                   '''' || replace(replace(q.lexeme, '\', '\\'), '''', '''''') || '''' as quoted
              from meant q
             cross join corpus c
             order by q.nodes
             limit 64) w
),
place as materialized (
    -- Where the words that are looked for stand in the query; of a long text, in its opening.
    select l.config, w.quoted, w.idf, p.position::int as position
      from language l
     cross join unnest(to_tsvector(l.config, $8::text)) q
      join word w on w.lexeme = q.lexeme
     cross join unnest(q.positions) p(position)
     where p.position <= 256
),
pair as materialized (
    -- Words that stand together in the query, to be looked for in the same order and at the same distance.
    select distinct (x.quoted || ' <' || distance || '> ' || y.quoted)::tsquery as query, least(x.idf, y.idf) as idf
      from place x
     cross join generate_series(1, 2) distance
      join place y on y.config = x.config and y.position = x.position + distance
),
choosing as materialized (
    -- Words in more than 2 % (and 500) of the nodes choose nothing, unless they are among the three rarest. More than
    -- 10,000 nodes are not ranked, unless the rarest word alone has more.
    select quoted, nodes
      from (select *, row_number() over rarest as rarity, sum(nodes) over rarest as together
              from word window rarest as (order by nodes, lexeme rows unbounded preceding)) w
     where rarity = 1 or (together <= 10000 and (nodes <= greatest(500, 0.02 * n) or rarity <= 3))
),
any_word as materialized (
    -- What may have the query's exact terms comes before what has its words.
    select string_agg(part, ' | ')::tsquery as query, string_agg(part, ' | ') filter (where is_exact)::tsquery as exact
      from (select quoted as part, false as is_exact from choosing
            union all
            select '(' || query::text || ')', kind in ('term', 'quotation')
              from sign
             where kind in ('term', 'quotation', 'prefix') and query is not null) chosen
),
weighed as materialized (
    -- What is there as written has 1.2 times its words' weight more: with that it is above what has its parts alone. A
    -- beginning of words weighs as a word in as many nodes as they are in together.
    select s.kind, s.query, s.pattern,
           case when s.kind = 'prefix' then ln(1 + greatest(c.n - p.nodes + 0.5, 0.5) / (p.nodes + 0.5))
                else coalesce((select sum(w.idf) from word w
                                where w.lexeme in (select x.lexeme from language l
                                                    cross join unnest(to_tsvector(l.config, concat_ws(' ', s.text, s.parts))) x)), ln(1 + c.n))
           end as idf
      from sign s
     cross join corpus c
     cross join lateral (
           select least(greatest(coalesce(sum(x.node_count), 0), 1), c.n) as nodes
             from (select node_count from htm.lexeme_statistics
                    where s.kind = 'prefix' and namespace = any ($1)
                      and lexeme >= lower(s.text) and lexeme < lower(s.text) || chr(1114111)
                    limit 1000) x) p
     where s.kind in ('prefix', 'term', 'quotation')
)
