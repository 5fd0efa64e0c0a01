-- A part of recall.sql: BM25 of every member, with k1 $16, b $17 and $24 lexemes added to each length, so that a turn of
-- three words does not win by its shortness alone.
document as materialized (
    -- Unpacked once: ts_delete of nothing. A stored tsvector would be unpacked for each word.
    select id, length, ts_delete(tsv, '') as tsv from member where $8::text is not null
),
most as materialized (
    -- What a node could have at most for this query.
    select (select coalesce(sum(idf), 0) * ($16 + 1) from word) + (select coalesce(sum(idf), 0) * 0.3 from pair)
           + (select coalesce(sum(idf * case when kind = 'prefix' then $16 + 1 else 1.2 end), 0) from weighed) as bm25
),
bm25 as materialized (
    select id, sum(score) as bm25, sum(score) filter (where kind = 'together') as together,
           sum(score) filter (where kind = 'exact') as exact,
           -- The exact terms are the query, or one word of many, which hardly counts.
           least(2 * coalesce(sum(score / 1.2) filter (where kind = 'exact'), 0)
                 / ((select coalesce(sum(idf), 0) from word) + (select coalesce(sum(idf), 0) from weighed)), 1) ^ 2 as exact_share
      from (-- ts_rank of one lexeme with equal weights is (1 + 1/4 + … + 1/tf²) / 1.644934, from which tf comes back:
            -- several times as fast as unnesting the document. A word in a long text's opening (weight A) counts two more.
            select d.id, 'word' as kind,
                   w.idf * f.tf * ($16 + 1)
                         / (f.tf + $16 * (1 - $17 + $17 * (d.length + $24) / (w.average_length + $24))) as score
              from word w
              join document d on d.tsv @@ w.query
             cross join lateral (
                   select greatest(round(1 / (1.644934 * greatest(1 - ts_rank('{1,1,1,1}', d.tsv, w.query), 0.001)) - 0.5), 1)::float8
                          + case when d.length > 40 and d.tsv @@ w.opening then 2 else 0 end as tf) f
            union all
            select d.id, 'together', 0.3 * p.idf
              from pair p
              join document d on d.tsv @@ p.query
            union all
            select d.id, 'word', s.idf * f.tf * ($16 + 1)
                         / (f.tf + $16 * (1 - $17 + $17 * (d.length + $24) / (c.average_length + $24)))
              from weighed s
             cross join corpus c
              join document d on d.tsv @@ s.query
             cross join lateral (select n.content from htm.nodes n where n.id = d.id offset 0) m
             cross join lateral (select regexp_count(m.content, s.pattern, 1, 'i')::float8 as tf) f
             where s.kind = 'prefix' and f.tf > 0
            union all
            select d.id, 'exact', s.idf * 1.2
              from weighed s
              join document d on s.query is null or d.tsv @@ s.query
             cross join lateral (select n.content from htm.nodes n where n.id = d.id offset 0) m
             where s.kind <> 'prefix' and m.content ~* s.pattern) part
     group by id
)
