-- A part of recall.sql: the words that the query asks for, what each of them weighs, and which choose candidates.
--
-- Index: lexeme_statistics_pk, lexeme_statistics_trigram_idx, nodes_tsv_idx
corpus as materialized (
    -- The namespace's statistics; without any yet, a count of at most 2,000 nodes. Lengths are in distinct lexemes: a
    -- tsvector knows how many it has without being unpacked. An aggregate has a row whatever its `where` says.
    select node_count::float8 as n, average_lexemes::float8 as average_length
      from htm.namespace_statistics
     where namespace = $1 and refreshed_at is not null
    union all
    select count(*), greatest(coalesce(avg(length(tsv)), 1), 1)
      from (select tsv from htm.nodes where namespace = $1 and deleted_at is null limit 2000) sample
    having $8::text is not null
       and not exists (select from htm.namespace_statistics where namespace = $1 and refreshed_at is not null)
),
asked as materialized (
    -- A lexeme that the statistics have not seen is counted live: it is new, therefore rare.
    select q.lexeme,
           coalesce(s.node_count,
                    (select count(*) from (select from htm.nodes m
                                            where m.namespace = $1 and m.deleted_at is null
                                              and m.tsv @@ ('''' || replace(replace(q.lexeme, '\', '\\'), '''', '''''') || '''')::tsquery
                                            limit 1000) seen))::float8 as nodes
      from unnest(to_tsvector($10::text::regconfig, $8::text)) q
      left join htm.lexeme_statistics s on s.namespace = $1 and s.lexeme = q.lexeme
),
unknown as materialized (
    -- Words as typed that no node has, a few of them; a query that is a long text has words enough.
    select distinct lower(w.word) as word
      from regexp_split_to_table($8::text, '[^[:alnum:]]+') w(word)
     where (select count(*) <= 64 and bool_or(nodes = 0) from asked)
       and length(w.word) between 4 and 40
       and exists (select from unnest(to_tsvector($10::text::regconfig, w.word)))
       and not exists (select from unnest(to_tsvector($10::text::regconfig, w.word)) l
                         join asked a on a.lexeme = l.lexeme and a.nodes > 0)
     limit 8
),
swapped as materialized (
    -- The words that it becomes when two letters next to one another change places, where a node has them.
    select u.word, s.lexeme, s.node_count
      from unknown u
     cross join lateral generate_series(1, length(u.word) - 1) i
     cross join lateral unnest(to_tsvector($10::text::regconfig,
                                           overlay(u.word placing reverse(substr(u.word, i, 2)) from i for 2))) l
      join htm.lexeme_statistics s on s.namespace = $1 and s.lexeme = l.lexeme
),
meant as materialized (
    select lexeme, nodes from asked where nodes > 0
    union
    select lexeme, node_count from swapped
    union
    -- Else the one word that is most like it.
    select near.lexeme, near.node_count
      from unknown u
     cross join lateral (
           select s.lexeme, s.node_count
             from unnest(to_tsvector($10::text::regconfig, u.word)) l
             join htm.lexeme_statistics s on s.namespace = $1 and s.lexeme % l.lexeme
            order by similarity(s.lexeme, l.lexeme) desc, s.node_count desc
            limit 1) near
     where u.word not in (select word from swapped)
),
word as materialized (
    -- Of a query that is a long text, its rarest words.
    select w.*, quoted::tsquery as query, (quoted || ':A')::tsquery as opening,
           ln(1 + greatest(n - nodes + 0.5, 0.5) / (nodes + 0.5)) as idf
      from (select q.lexeme, q.nodes, c.n, c.average_length,
                   '''' || replace(replace(q.lexeme, '\', '\\'), '''', '''''') || '''' as quoted
              from meant q
             cross join corpus c
             order by q.nodes
             limit 64) w
),
place as materialized (
    select q.lexeme, p.position
      from unnest(to_tsvector($10::text::regconfig, $8::text)) q
     cross join unnest(q.positions) p(position)
),
pair as materialized (
    -- Words that stand together in the query, to be looked for in the same order and at the same distance.
    select distinct (a.quoted || ' <' || (y.position - x.position) || '> ' || b.quoted)::tsquery as query,
           least(a.idf, b.idf) as idf
      from place x
      join place y on y.position - x.position between 1 and 2
      join word a on a.lexeme = x.lexeme
      join word b on b.lexeme = y.lexeme
),
any_word as materialized (
    -- Words in more than 2 % (and 500) of the nodes choose nothing; the three rarest are always kept.
    select string_agg(quoted, ' | ')::tsquery as query
      from (select *, row_number() over (order by nodes) as rarity from word) w
     where nodes <= greatest(500, 0.02 * n) or rarity <= 3
)
