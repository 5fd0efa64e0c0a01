-- Recall: both legs, both scores for every candidate and for the turns beside it, one round trip.
--
-- Without filters it runs by a plan that was made once, for any namespace and any text: each part is written so that only
-- one way is open to it, and "offset 0" is the wall that the planner does not look over.
--
-- A leg whose input is null does not run: $9 null is text alone, $8 null is vectors alone. The score is the cosine
-- similarity (vectors alone), BM25 (text alone), or the fusion of both; neighbours, a speaker and a time that the query
-- names add to it. What each step gained is said in store/recall.rs.
-- {{store}} is the table of the active model, htm.embeddings_<id>. The signs of the
-- query are in recall_signs.sql, its words in recall_words.sql, BM25 in recall_bm25.sql.
--
-- $1 text[] namespaces         $2 timestamptz from, inclusive, or null   $3 timestamptz until, exclusive, or null
-- $18 timestamptz[] where each of several ranges starts, or null: there is one, from $2 until $3   $19 where each ends
-- $4 text[] tags or null       $5 boolean[] each as a prefix             $6 int how many of them a node must have
-- $7 text[] robots or null     $8 text query or null                     $9 halfvec query embedding or null
-- $10 text search configuration $11 int candidates a leg                 $12 int limit
-- $13 int largest scope that is searched exactly                         $14 text fusion: convex | rrf
-- $15 double weight of the vectors, 0 to 1                               $16 double BM25's k1   $17 double BM25's b
-- $20 text session or null
-- $21 text[] tags that hits had better have, or null   $22 boolean[] each as a prefix
-- $23 double weight of the neighbouring turns, 0: none                   $24 double BM25's smoothing, in lexemes
-- $25 double for a node of a speaker whom the query names                $26 double for a node of a time that it names
-- $29 jsonb object that a node's metadata must contain, or null
-- $27 int[] the years of the months that the query names, null: of any   $28 int[] the months, 1 to 12
-- $30 jsonb what the query asks for by signs, see recall_signs.sql       $31 double for the exact terms that a node has
-- $32 double least similarity that vectors may bring, or null            $33 boolean snippets
--
-- Index: nodes_tsv_idx; nodes_language_idx; embeddings_<id>_scope_idx or embeddings_<id>_hnsw_idx; nodes_pk; node_tags_tag_idx, nodes_robot_idx,
-- nodes_session_idx or nodes_metadata_idx (a narrow filter); nodes_session_seq_idx or
-- nodes_session_idx; node_tags_tag_idx (boosted tags); lexeme_statistics_pk; lexeme_statistics_trigram_idx (a word that no node has)
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
{{signs}},
{{words}},
few as materialized (
    -- The assignments of the tags that are asked for; read whole when they are few.
    select nt.node_id, s.ord from tag_scope s join htm.node_tags nt on nt.tag_id = s.id
     where $9::halfvec is not null limit $13 + 1
),
narrow as materialized (
    -- The nodes that pass the filters: found by their tags where these are rare, else by the other filters.
    select m.id
      from (select node_id from few where (select count(*) from few) <= $13
             group by node_id having count(distinct ord) >= $6) f
      join htm.nodes m on m.id = f.node_id
     where $4::text[] is not null and {{visible}} and {{within:m}}
    union all
    (select m.id
       from htm.nodes m
      where $9::halfvec is not null and ($7::text[] is not null or $20::text is not null or $29::jsonb is not null)
        and ($4::text[] is null or (select count(*) from few) > $13)
        and {{visible}} and {{within:m}}
      limit $13 + 1)
),
scope as materialized (
    -- How vectors are searched: among the nodes that pass the filters, or in the whole scope, when those are few enough to
    -- be compared each; else by the index.
    select case
        when $9::halfvec is null then null
        when case when $4::text[] is not null and (select count(*) from few) <= $13 then true
                  else $7::text[] is not null or $20::text is not null or $29::jsonb is not null end
             and (select count(*) from narrow) <= $13 then 'narrow'
        when $2::timestamptz is null and $3::timestamptz is null and $18::timestamptz[] is null
             and (select sum(node_count) > 1.1 * $13 from htm.namespace_statistics where namespace = any ($1) and refreshed_at is not null)
            then 'index' -- as was counted lately
        when (select count(*) from (select from {{store}} e where {{within:e}} limit $13 + 1) counted) <= $13 then 'whole'
        else 'index' end as search
),
narrow_leg as materialized (
    -- "offset 0": each is looked up, whatever the planner thinks; a join would read the whole store.
    select n.id, e.embedding <=> $9 as distance
      from narrow n
     cross join lateral (select s.embedding from {{store}} s where s.node_id = n.id offset 0) e
     where (select search from scope) = 'narrow'
     order by distance
     limit $11
),
whole_leg as materialized (
    -- "+ 0" keeps the planner from the HNSW index: a small scope is sorted whole and loses nothing. Nodes are looked at
    -- in that order until enough are visible; a join would read all of them.
    select id, distance
      from (select e.node_id as id, e.embedding <=> $9 as distance
              from {{store}} e
             where (select search from scope) = 'whole' and {{within:e}}
             order by (e.embedding <=> $9) + 0
            offset 0) near
     where coalesce((select {{visible}} from htm.nodes m where m.id = near.id), false)
     limit $11
),
index_leg as materialized (
    -- The index is walked by distance until enough are of the scope and visible.
    select id, distance
      from (select e.node_id as id, e.namespace, e.created_at, e.embedding <=> $9 as distance
              from {{store}} e
             where (select search from scope) = 'index'
             order by e.embedding <=> $9
            offset 0) near
     where {{within:near}} and coalesce((select {{visible}} from htm.nodes m where m.id = near.id), false)
     limit $11
),
vector_leg as materialized (
    select id, row_number() over (order by distance, id desc) as rank
      from (table narrow_leg union all table whole_leg union all table index_leg) leg
     where $32::float8 is null or 1 - distance >= $32
),
reach as materialized (
    -- How the nodes that have a word are found: by the index, which knows of no namespace and brings those of all, or by
    -- reading each that is in scope when these are few beside. Words are taken to be as frequent elsewhere as they are here;
    -- what has one often has another, so that the sum is too much.
    select case when $2::timestamptz is null and $3::timestamptz is null and c.is_counted then c.n <= indexed / 3
                else (select count(*) from (select from htm.nodes m where {{within:m}} limit least(indexed / 3, 5000)::int + 1) seen)
                     <= least(indexed / 3, 5000) end as is_each
      from corpus c
     cross join lateral (
           select greatest(c.n, (select reltuples from pg_class where oid = 'htm.nodes'::regclass))
                  * (select coalesce(sum(w.nodes), 0) from choosing w) / greatest(c.n, 1) as indexed) i
),
text_leg as materialized (
    select id, row_number() over (order by is_exact desc, rank desc, id desc) as rank
      from (select m.id, coalesce(m.tsv @@ q.exact, false) as is_exact,
                   coalesce(ts_rank('{1,1,1,1}', m.tsv, q.query), 0) as rank
              from any_word q
              {{chosen}}
             where $8::text is not null and {{within:m}} and {{visible}}
             order by 2 desc, 3 desc, 1 desc
             limit $11) leg
),
boosted as materialized (
    select nt.node_id as id from boost b join htm.node_tags nt on nt.tag_id = b.id limit 2001
),
tag_leg as materialized (
    -- What has the tags that hits had better have, the nearest to the query first, as long as those are few: of many the
    -- other legs find enough.
    select t.id
      from (select distinct id from boosted where (select count(*) from boosted) <= 2000) t
     cross join lateral (select n.* from htm.nodes n where n.id = t.id offset 0) m
      left join lateral (select s.embedding from {{store}} s where s.node_id = t.id offset 0) e on true
     where {{within:m}} and {{visible}}
     order by e.embedding <=> $9, m.created_at desc, t.id desc
     limit $11
),
candidate as materialized (
    select id, v.rank as vector_rank, t.rank as text_rank, g.id is not null as by_tag
      from vector_leg v full join text_leg t using (id) full join tag_leg g using (id)
),
turn as materialized (
    -- A candidate that is a short turn of a conversation has neighbours; a long text stands for itself.
    select c.id, m.namespace, m.session, m.seq, m.created_at
      from candidate c
     cross join lateral (select n.* from htm.nodes n where n.id = c.id offset 0) m
     where $23 > 0 and m.session is not null and length(m.tsv) <= 64
       and (c.vector_rank is not null or c.text_rank is not null)
),
link as materialized (
    -- Up to two turns before and after: by their places, or by time where those are not known. Places may be any integer.
    select t.id as turn, m.id, abs(m.seq::bigint - t.seq) as steps
      from turn t
      join htm.nodes m on m.namespace = t.namespace and md5(m.session) = md5(t.session) and m.session = t.session
       and m.seq between t.seq::bigint - 2 and t.seq::bigint + 2 and m.seq <> t.seq
     where m.deleted_at is null
    union all
    select t.id, near.id, near.steps
      from turn t
     cross join lateral (
           (select m.id, row_number() over (order by m.created_at desc, m.id desc) as steps
              from htm.nodes m
             where t.seq is null and m.namespace = t.namespace and md5(m.session) = md5(t.session) and m.session = t.session
               and m.deleted_at is null and (m.created_at, m.id) < (t.created_at, t.id)
             order by m.created_at desc, m.id desc limit 2)
           union all
           (select m.id, row_number() over (order by m.created_at, m.id)
              from htm.nodes m
             where t.seq is null and m.namespace = t.namespace and md5(m.session) = md5(t.session) and m.session = t.session
               and m.deleted_at is null and (m.created_at, m.id) > (t.created_at, t.id)
             order by m.created_at, m.id limit 2)) near
),
named_speaker as materialized (
    select array_agg(distinct lower(name)) as names
      from regexp_split_to_table($8::text, '[^[:alnum:]]+') name
     where length(name) > 1
),
named_time as materialized (
    select year, month from unnest($27::int[], $28::int[]) t(year, month)
),
member as materialized (
    -- Both scores for every candidate and for its neighbours: a missing score taken as 0 costs recall.
    select c.id, c.vector_rank, c.text_rank, c.by_tag, m.tsv, length(m.tsv) as length,
           1 - (e.embedding <=> $9) as similarity, e.revision < m.revision as stale,
           case when $8::text is null or $9::halfvec is null or $14 = 'rrf' then 0 else
               case when lower(m.speaker) = any ((select names from named_speaker)::text[])
                      or lower(split_part(m.speaker, ' ', 1)) = any ((select names from named_speaker)::text[])
                    then $25 else 0 end
           end as speaker,
           case when $8::text is null or $9::halfvec is null or $14 = 'rrf' then 0 else
               case when exists (
                      -- What happens in a month is spoken of until some days after it: the month of ten days before.
                      select from named_time t
                       cross join (values (m.created_at), (greatest(m.created_at, '0001-02-01') - interval '10 days')) d(at)
                       where extract(month from d.at at time zone 'UTC') = t.month
                         and coalesce(extract(year from d.at at time zone 'UTC') = t.year, true))
                      then $26 else 0 end
           end as time
      from (select id, vector_rank, text_rank, by_tag from candidate
             union all
            select id, null, null, false from (select id from link except select id from candidate) beside) c
     cross join lateral (select n.* from htm.nodes n where n.id = c.id offset 0) m
      -- "offset 0": each is looked up, whatever the planner thinks; a join would read the whole store.
      left join lateral (select s.embedding, s.revision from {{store}} s where s.node_id = c.id offset 0) e on true
     where c.vector_rank is not null or c.text_rank is not null or c.by_tag
        or ({{within:m}} and {{visible}})
),
{{bm25}},
scored as materialized (
    -- A candidate that has nothing of the query, though full text thought so, is none of the text.
    select m.id, m.vector_rank, m.by_tag, m.similarity, m.stale, m.speaker, m.time, ln(least(greatest(m.length, 64), 128) / 64.0)::float8 as extent,
           case when b.bm25 > 0 or exists (select from sign where kind = 'phrase') then m.text_rank end as text_rank,
           case when $8::text is not null then coalesce(b.bm25, 0) end as bm25, b.together, b.exact,
           case when $8::text is null or $9::halfvec is null or $14 = 'rrf' then 0
                else $31 * coalesce(b.exact_share, 0) end as prior_exact
      from member m
      left join bm25 b using (id)
     where b.bm25 > 0 or m.text_rank is null or m.vector_rank is not null or exists (select from sign where kind = 'phrase')
),
bound as materialized (
    -- What length alone brings: long texts have more of any query's words, and would crowd out short ones. Short is what a
    -- turn is; nothing grows beyond twice that.
    select min(similarity) as low, max(similarity) as high, max(bm25) as bm25,
           greatest(coalesce(regr_slope(bm25, extent), 0), 0) as by_length
      from scored
     where vector_rank is not null or text_rank is not null
),
part as materialized (
    -- What each leg gives to the score.
    select s.*,
           case when $9::halfvec is null then 0
                when $8::text is null then s.similarity
                when $14 = 'rrf' then coalesce(1.0 / (60 + vector_rank), 0)
                else $15 * coalesce((s.similarity - b.low) / nullif(b.high - b.low, 0), 0)
           end as vector_part,
           case when $8::text is null then 0
                when $9::halfvec is null then s.bm25
                when $14 = 'rrf' then coalesce(1.0 / (60 + text_rank), 0)
                else (1 - $15) * coalesce((s.bm25 - b.by_length * s.extent) / nullif(b.bm25, 0), 0)
           end as text_part
      from scored s cross join bound b
),
fused as materialized (
    select *, vector_part + text_part as base from part
),
usual as materialized (
    -- What a text brings that is a candidate by chance, and what the better of two brings: of two normal values, 0.56
    -- standard deviations more. Five that bring nothing count as well: a few candidates say little of chance.
    select mean as of_one, mean + 0.56 * sqrt(greatest(square - mean * mean, 0)) as of_two
      from (select sum(base) / (count(*) + 5) as mean, sum(base * base) / (count(*) + 5) as square
              from fused
             where vector_rank is not null or text_rank is not null) s
),
beside as (
    -- A turn has a share of the better of both turns next to it, and two thirds of it of the better of those one further,
    -- as far as they are better than usual: to be in a conversation is no merit over a text that stands for itself.
    select id,
           $23 * (coalesce(near - case when has_one_near then of_one else of_two end, 0)
                  + coalesce(further - case when has_one_further then of_one else of_two end, 0) * 2 / 3) as share
      from (select id, max(base) filter (where steps = 1) as near, max(base) filter (where steps = 2) as further,
                   min(other) filter (where steps = 1) = max(other) filter (where steps = 1) as has_one_near,
                   min(other) filter (where steps = 2) = max(other) filter (where steps = 2) as has_one_further
              from (select l.turn as id, f.id as other, f.base, l.steps from link l join fused f on f.id = l.id
                     union all
                    select l.id, f.id, f.base, l.steps from link l join fused f on f.id = l.turn) pair
             group by id) best
     cross join usual
),
shown as (
    -- What a snippet marks.
    select coalesce(string_agg(part, ' | ')::tsquery, '') as query
      from (select quoted as part from word
            union all select '(' || query::text || ')' from sign where kind <> 'without' and query is not null) s
     where $33
),
hit as (
    select f.*, coalesce(n.share, 0) as neighbours,
           base + coalesce(n.share, 0) + speaker + time + prior_exact as score
      from fused f
      left join beside n using (id)
     order by score desc nulls last, id desc
     limit $12
)
select {{node}},
       h.vector_rank, h.text_rank, h.by_tag, h.similarity, coalesce(h.stale, false) as stale, h.bm25, h.score::float8 as score,
       case when $8::text is not null then coalesce(h.bm25 / nullif((select bm25 from most), 0), 0) end as text_share,
       h.vector_part::float8 as vector_part, h.text_part::float8 as text_part,
       h.text_part::float8 * coalesce(h.together / nullif(h.bm25, 0), 0) as together_part,
       h.text_part::float8 * coalesce(h.exact / nullif(h.bm25, 0), 0) as exact_part,
       h.neighbours::float8 as neighbours_part, h.speaker::float8 as speaker_part, h.time::float8 as time_part,
       h.prior_exact::float8 as prior_exact,
       case when $33 then
           -- "<" is put aside: what looks like a tag would be left out.
           ts_headline(m.language::regconfig, translate(left(m.content, 100000), E'<\x02\x03\x04', E'\x04'), (select query from shown),
                       E'StartSel="\x02", StopSel="\x03", MaxWords=35, MinWords=15')
       end as snippet,
       (select jsonb_agg(jsonb_build_object('asked', word, 'used', used) order by word, used) from correction) as corrected,
       case when $21::text[] is not null then
           (select count(distinct b.ord) from htm.node_tags nt join boost b on b.id = nt.tag_id
             where nt.node_id = m.id)::float8 / cardinality($21)
       end as tag_share,
       (select search from scope) as search, a.access_count, a.last_accessed,
       greatest(extract(epoch from now() - m.created_at)::float8 / 3600, 0) as hours
  from hit h
 cross join lateral (select n.* from htm.nodes n where n.id = h.id offset 0) m
  join htm.robots r on r.id = m.robot_id
  left join htm.node_accesses a on a.node_id = m.id
 order by h.score desc nulls last, h.id desc
