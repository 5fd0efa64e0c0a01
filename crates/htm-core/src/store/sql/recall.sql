-- Recall: both legs, both scores for every candidate, one round trip.
--
-- A leg whose input is null does not run: $9 null is text alone, $8 null is vectors alone. The score is the cosine
-- similarity (vectors alone), BM25 (text alone), or the fusion of both.
-- {{store}} is the table of the active model, htm.embeddings_<id>.
--
-- $1 text namespace            $2 timestamptz from, inclusive, or null   $3 timestamptz until, exclusive, or null
-- $18 timestamptz[] where each of several ranges starts, or null: there is one, from $2 until $3   $19 where each ends
-- $4 text[] tags or null       $5 boolean[] each as a prefix             $6 int how many of them a node must have
-- $7 text robot's name or null $8 text query or null                     $9 halfvec query embedding or null
-- $10 text search configuration $11 int candidates a leg                 $12 int limit
-- $13 int largest scope that is searched exactly                         $14 text fusion: convex | rrf
-- $15 double weight of the vectors, 0 to 1                               $16 double BM25's k1   $17 double BM25's b
-- $20 text session or null
-- $21 text[] tags that hits had better have, or null   $22 boolean[] each as a prefix
--
-- Index: nodes_tsv_idx; embeddings_<id>_scope_idx (exact) or embeddings_<id>_hnsw_idx; nodes_pk
with several as materialized (
    -- The indexes are walked from the first start ($2) to the last end ($3); this leaves out what lies between.
    select range_agg(tstzrange(r.since, r.until)) as ranges
      from unnest($18::timestamptz[], $19::timestamptz[]) r(since, until)
),
tag_scope as materialized (
    {{tags:$4,$5}}
),
boost as materialized (
    {{tags:$21,$22}}
),
corpus as materialized (
    -- The namespace's statistics; without any yet, a count of at most 2,000 nodes.
    select node_count::float8 as n, average_length::float8 as average_length
      from htm.namespace_statistics
     where namespace = $1 and refreshed_at is not null
    union all
    select count(*), greatest(coalesce(avg(htm.document_length(tsv)), 1), 1)
      from (select tsv from htm.nodes where namespace = $1 and deleted_at is null limit 2000) sample
     where $8::text is not null
       and not exists (select from htm.namespace_statistics where namespace = $1 and refreshed_at is not null)
),
word as materialized (
    -- A lexeme that the statistics have not seen is counted live: it is new, therefore rare.
    select w.*, ln(1 + greatest(n - nodes + 0.5, 0.5) / (nodes + 0.5)) as idf
      from (select q.lexeme, c.n, c.average_length,
                   '''' || replace(replace(q.lexeme, '\', '\\'), '''', '''''') || '''' as quoted,
                   coalesce(s.node_count,
                            (select count(*) from (select from htm.nodes m
                                                    where m.namespace = $1 and m.deleted_at is null
                                                      and m.tsv @@ ('''' || replace(replace(q.lexeme, '\', '\\'), '''', '''''') || '''')::tsquery
                                                    limit 1000) seen))::float8 as nodes
              from unnest(to_tsvector($10::text::regconfig, $8::text)) q
             cross join corpus c
              left join htm.lexeme_statistics s on s.namespace = $1 and s.lexeme = q.lexeme) w
),
any_word as materialized (
    -- Words in more than 2 % (and 2,000) of the nodes choose nothing; the three rarest are always kept.
    select string_agg(quoted, ' | ')::tsquery as query
      from (select *, row_number() over (order by nodes) as rarity from word) w
     where nodes <= greatest(2000, 0.02 * n) or rarity <= 3
),
scope as materialized (
    select count(*) as size
      from (select from {{store}} e
             where $9::halfvec is not null and e.namespace = $1
               and ($2::timestamptz is null or e.created_at >= $2)
               and ($3::timestamptz is null or e.created_at < $3)
               and ($18::timestamptz[] is null or (select ranges from several) @> e.created_at)
             limit $13 + 1) counted
),
exact_leg as materialized (
    -- "+ 0" keeps the planner from the HNSW index: a small scope is sorted whole and loses nothing.
    select e.node_id as id, e.embedding <=> $9 as distance
      from {{store}} e
      join htm.nodes m on m.id = e.node_id
     where $9::halfvec is not null and (select size from scope) <= $13
       and e.namespace = $1
       and ($2::timestamptz is null or e.created_at >= $2)
       and ($3::timestamptz is null or e.created_at < $3)
       and ($18::timestamptz[] is null or (select ranges from several) @> e.created_at)
       and {{visible}}
     order by (e.embedding <=> $9) + 0
     limit $11
),
hnsw_leg as materialized (
    select e.node_id as id, e.embedding <=> $9 as distance
      from {{store}} e
     where $9::halfvec is not null and (select size from scope) > $13
       and e.namespace = $1
       and ($2::timestamptz is null or e.created_at >= $2)
       and ($3::timestamptz is null or e.created_at < $3)
       and ($18::timestamptz[] is null or (select ranges from several) @> e.created_at)
       and exists (select from htm.nodes m where m.id = e.node_id and {{visible}})
     order by e.embedding <=> $9
     limit $11
),
vector_leg as materialized (
    select id, row_number() over (order by distance, id desc) as rank
      from (select * from exact_leg union all select * from hnsw_leg) leg
),
text_leg as materialized (
    select id, row_number() over (order by rank desc, id desc) as rank
      from (select m.id, ts_rank(m.tsv, q.query) as rank
              from any_word q
              join htm.nodes m on m.tsv @@ q.query
             where m.namespace = $1
               and ($2::timestamptz is null or m.created_at >= $2)
               and ($3::timestamptz is null or m.created_at < $3)
               and ($18::timestamptz[] is null or (select ranges from several) @> m.created_at)
               and {{visible}}
             order by 2 desc, 1 desc
             limit $11) leg
),
scored as (
    -- Both scores for every candidate of the union: a missing score taken as 0 costs recall.
    select c.id, c.vector_rank, c.text_rank,
           1 - (e.embedding <=> $9) as similarity, e.revision < m.revision as stale,
           case when $8::text is not null then
               (select coalesce(sum(w.idf * d.tf * ($16 + 1)
                        / (d.tf + $16 * (1 - $17 + $17 * d.length / w.average_length)))
                        filter (where w.lexeme is not null), 0)
                  from (select u.lexeme, coalesce(array_length(u.positions, 1), 1)::float8 as tf,
                               sum(coalesce(array_length(u.positions, 1), 1)) over ()::float8 as length
                          from unnest(m.tsv) u) d
                  left join word w on w.lexeme = d.lexeme)
           end as bm25
      from (select id, v.rank as vector_rank, t.rank as text_rank
              from vector_leg v full join text_leg t using (id)) c
      join htm.nodes m on m.id = c.id
      left join {{store}} e on e.node_id = c.id
),
normalised as (
    select *,
           (similarity - min(similarity) over ()) / nullif(max(similarity) over () - min(similarity) over (), 0)
               as similarity_share,
           bm25 / nullif(max(bm25) over (), 0) as bm25_share
      from scored
),
fused as (
    select *,
           case when $9::halfvec is null then bm25
                when $8::text is null then similarity
                when $14 = 'rrf' then coalesce(1.0 / (60 + vector_rank), 0) + coalesce(1.0 / (60 + text_rank), 0)
                else $15 * coalesce(similarity_share, 0) + (1 - $15) * coalesce(bm25_share, 0)
           end as score
      from normalised
),
hit as (
    select id, vector_rank, text_rank, similarity, stale, bm25, score
      from fused
     order by score desc nulls last, id desc
     limit $12
)
select {{node}},
       h.vector_rank, h.text_rank, h.similarity, coalesce(h.stale, false) as stale, h.bm25, h.score::float8 as score,
       case when $21::text[] is not null then
           (select count(distinct b.ord) from htm.node_tags nt join boost b on b.id = nt.tag_id
             where nt.node_id = m.id)::float8 / cardinality($21)
       end as tag_share,
       greatest(extract(epoch from now() - m.created_at)::float8 / 3600, 0) as hours
  from hit h
  join htm.nodes m on m.id = h.id
  join htm.robots r on r.id = m.robot_id
 order by h.score desc nulls last, h.id desc
