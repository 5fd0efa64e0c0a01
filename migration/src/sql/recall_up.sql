-- What recall ranks by: the opening of a text, lengths in lexemes, words that are alike, the places of a conversation.
-- Programs of schema version 4 that still run work on beside it; their full text takes words of an opening for heavier.
--
-- htm.nodes is rewritten, once, and its full-text index is made anew: every text is parsed again (half a second for a
-- thousand texts of 1,500 characters). Until the commit nobody else reads or writes the table.

-- ── the opening of a text ───────────────────────────────────────────────────────────────────────────────
-- As in version 1, but a lexeme of the first 160 characters has weight A: what a text is about stands there. Who ranks
-- by ts_rank gives all weights the same, or A counts tenfold.
create or replace function htm.text_vector(language text, content text) returns tsvector
    language plpgsql immutable strict parallel unsafe as $$
declare
    opening text[] := tsvector_to_array(to_tsvector(language::regconfig, left(content, 160)));
begin
    if octet_length(content) <= 262144 then
        return setweight(to_tsvector(language::regconfig, content), 'A', opening);
    end if;
    begin
        return setweight(to_tsvector(language::regconfig, content), 'A', opening);
    exception when program_limit_exceeded then
        return htm.text_vector(language, left(content, length(content) / 2));
    end;
end $$;

alter table htm.nodes
    drop column tsv,
    add column tsv tsvector not null generated always as (htm.text_vector(language, content)) stored;
create index nodes_tsv_idx on htm.nodes using gin (tsv);

-- ── statistics ──────────────────────────────────────────────────────────────────────────────────────────
-- A tsvector knows how many lexemes it has; how many words it must be unpacked for.
alter table htm.namespace_statistics add column average_lexemes real not null default 1;
comment on column htm.namespace_statistics.average_lexemes is 'Distinct lexemes a node; average_length counts each occurrence.';
update htm.namespace_statistics s
   set average_lexemes = greatest(coalesce((select avg(length(n.tsv)) from htm.nodes n
                                             where n.namespace = s.namespace and n.deleted_at is null), 1), 1);

-- A word that no node has, by those that are most like it.
create index lexeme_statistics_trigram_idx on htm.lexeme_statistics using gin (lexeme gin_trgm_ops);

-- As in version 3, with the average of lexemes, and without writing what is the same.
create or replace function htm.refresh_statistics(in_namespace text) returns void language plpgsql as $$
declare
    seen bigint := coalesce((select unseen_count from htm.namespace_statistics where namespace = in_namespace), 0);
begin
    -- Only what differs is written: an index of trigrams is dear to write to.
    with found as materialized (
        select word collate "C" as lexeme, ndoc
          from ts_stat(format('select tsv from htm.nodes where namespace = %L and deleted_at is null', in_namespace))
    ), gone as (
        delete from htm.lexeme_statistics s
         where s.namespace = in_namespace and not exists (select from found f where f.lexeme = s.lexeme)
    )
    insert into htm.lexeme_statistics as s (namespace, lexeme, node_count)
    select in_namespace, lexeme, ndoc from found
    on conflict on constraint lexeme_statistics_pk do update set node_count = excluded.node_count
     where s.node_count <> excluded.node_count;
    insert into htm.namespace_statistics as s
           (namespace, node_count, average_length, average_lexemes, unseen_count, refreshed_at)
    select in_namespace, count(*), greatest(coalesce(avg(htm.document_length(tsv)), 1), 1),
           greatest(coalesce(avg(length(tsv)), 1), 1), 0, now()
      from htm.nodes where namespace = in_namespace and deleted_at is null
    on conflict (namespace) do update
       set (node_count, average_length, average_lexemes, unseen_count, refreshed_at)
         = (excluded.node_count, excluded.average_length, excluded.average_lexemes,
            greatest(s.unseen_count - seen, 0), excluded.refreshed_at);
end $$;

-- ── conversations ───────────────────────────────────────────────────────────────────────────────────────
-- The turns next to one, where the places are known.
create index nodes_session_seq_idx on htm.nodes (namespace, md5(session), seq, created_at, id)
    where session is not null and deleted_at is null;
