-- The statistics of BM25. A word without statistics is counted live, so that new nodes can be found at once.
create table htm.namespace_statistics (
    namespace       text collate "C" not null constraint namespace_statistics_pk primary key,
    node_count      bigint not null default 0,
    average_lexemes real not null default 1,
    unseen_count    bigint not null default 0,
    refreshed_at    timestamptz
);
comment on column htm.namespace_statistics.average_lexemes is
    'Distinct lexemes per node. A tsvector has this number at hand, but must be unpacked for the number of words.';
comment on column htm.namespace_statistics.unseen_count is
    'Nodes written, edited, forgotten or restored since the last refresh.';

create table htm.lexeme_statistics (
    namespace  text collate "C" not null,
    lexeme     text collate "C" not null,
    node_count integer not null,
    constraint lexeme_statistics_pk primary key (namespace, lexeme)
);
-- For lexemes that contain a term, such as a path within a longer path.
create index lexeme_statistics_trigram_idx on htm.lexeme_statistics using gin (lexeme gin_trgm_ops);

-- The last node that the refresher has seen. It reads only newer nodes to learn which namespaces changed.
create table htm.statistics_watermark (
    only_row boolean not null default true
             constraint statistics_watermark_pk primary key
             constraint statistics_watermark_one_row check (only_row),
    node_id  bigint not null
);
insert into htm.statistics_watermark (node_id) values (0);

-- Counts the words of a namespace. Changes during the count stay in unseen_count for the next run.
create function htm.refresh_statistics(in_namespace text) returns void language plpgsql as $$
declare
    seen bigint := coalesce((select unseen_count from htm.namespace_statistics where namespace = in_namespace), 0);
begin
    -- Only differences are written, because writes to an index of trigrams are expensive.
    with found as materialized (
        select word collate "C" as lexeme, ndoc
          from ts_stat(format('select tsv from htm.nodes where namespace = %L and deleted_at is null', in_namespace))
    ), gone as (
        delete from htm.lexeme_statistics s
         where s.namespace = in_namespace and not exists (select from found f where f.lexeme = s.lexeme)
    )
    insert into htm.lexeme_statistics as s (namespace, lexeme, node_count)
    select in_namespace, lexeme, ndoc from found f
     where not exists (select from htm.lexeme_statistics k
                        where k.namespace = in_namespace and k.lexeme = f.lexeme and k.node_count = f.ndoc)
    on conflict on constraint lexeme_statistics_pk do update set node_count = excluded.node_count;
    insert into htm.namespace_statistics as s
           (namespace, node_count, average_lexemes, unseen_count, refreshed_at)
    select in_namespace, count(*), greatest(coalesce(avg(length(tsv)), 1), 1), 0, now()
      from htm.nodes where namespace = in_namespace and deleted_at is null
    having count(*) > 0
    on conflict (namespace) do update
       set (node_count, average_lexemes, unseen_count, refreshed_at)
         = (excluded.node_count, excluded.average_lexemes, greatest(s.unseen_count - seen, 0), excluded.refreshed_at);
    if not found then
        -- Nothing is written of a namespace without memories, which may be erased.
        delete from htm.namespace_statistics where namespace = in_namespace and unseen_count <= seen;
    end if;
end $$;

-- Analyzes one table whose committed rows have doubled since PostgreSQL last counted them; returns whether there was one. A
-- plan that was made for an empty table serves until the table is analyzed, which autovacuum does once a minute: in that minute
-- a young database has grown by 100,000 rows, and each ack read all of them. A table of 2,000 pages by the last count is
-- autovacuum's alone. Rows are counted, not bytes: a table of which another transaction has written most would be taken as empty.
--
-- One table a transaction: writers queue behind its lock if something else waits for it, and after an error the counts would
-- stay, but not the statistics.
create function htm.analyze_grown() returns boolean
    language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
    grown regclass;
begin
    -- One at a time does the work of all.
    if not pg_try_advisory_xact_lock(hashtext('htm.analyze_grown')) then return false; end if;
    for grown in
        select c.oid
          from pg_class c
         where c.relnamespace in ('htm'::regnamespace, 'apalis'::regnamespace) and c.relkind = 'r' and c.relpages < 2000
           and pg_stat_get_live_tuples(c.oid) > 2 * greatest(c.reltuples, 0)
           and pg_has_role(current_user, c.relowner, 'usage') -- else the analysis would be a warning, again and again
         order by pg_stat_get_live_tuples(c.oid) desc
    loop
        begin
            -- Without "nowait", each pass over a table that an index build has locked would be a warning in the server's log.
            execute format('lock table only %s in share update exclusive mode nowait', grown);
        exception when lock_not_available or undefined_table or syntax_error then -- a dropped table is its number
            continue;
        end;
        execute format('analyze %s', grown);
        return true;
    end loop;
    return false;
end $$;
revoke execute on function htm.analyze_grown from public;
