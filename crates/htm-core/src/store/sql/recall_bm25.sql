-- A part of recall.sql: BM25 of every member, with k1 $16, b $17 and $24 lexemes added to each length, so that a turn of
-- three words does not win by its shortness alone.
document as materialized (
    -- Unpacked once: ts_delete of nothing. A stored tsvector would be unpacked for each word.
    select id, length, ts_delete(tsv, '') as tsv from member where $8::text is not null
),
bm25 as materialized (
    -- ts_rank of one lexeme with equal weights is (1 + 1/4 + … + 1/tf²) / 1.644934, from which tf comes back: several
    -- times as fast as unnesting the document. A word in a long text's opening (weight A) counts as two more.
    select id, sum(score) as bm25
      from (select d.id, w.idf * f.tf * ($16 + 1)
                         / (f.tf + $16 * (1 - $17 + $17 * (d.length + $24) / (w.average_length + $24))) as score
              from word w
              join document d on d.tsv @@ w.query
             cross join lateral (
                   select greatest(round(1 / (1.644934 * greatest(1 - ts_rank('{1,1,1,1}', d.tsv, w.query), 0.001)) - 0.5), 1)::float8
                          + case when d.length > 40 and d.tsv @@ w.opening then 2 else 0 end as tf) f
            union all
            select d.id, 0.3 * p.idf
              from pair p
              join document d on d.tsv @@ p.query) part
     group by id
)
