-- What recall_up.sql made. Texts keep the weights that they have until they are written again: full text finds the same.
drop index htm.nodes_session_seq_idx, htm.lexeme_statistics_trigram_idx;
create or replace function htm.text_vector(language text, content text) returns tsvector
    language plpgsql immutable strict parallel unsafe as $$
begin
    if octet_length(content) <= 262144 then return to_tsvector(language::regconfig, content); end if;
    begin
        return to_tsvector(language::regconfig, content);
    exception when program_limit_exceeded then
        return htm.text_vector(language, left(content, length(content) / 2));
    end;
end $$;
create or replace function htm.refresh_statistics(in_namespace text) returns void language plpgsql as $$
declare
    seen bigint := coalesce((select unseen_count from htm.namespace_statistics where namespace = in_namespace), 0);
begin
    delete from htm.lexeme_statistics where namespace = in_namespace;
    insert into htm.lexeme_statistics (namespace, lexeme, node_count)
    select in_namespace, word, ndoc
      from ts_stat(format('select tsv from htm.nodes where namespace = %L and deleted_at is null', in_namespace));
    insert into htm.namespace_statistics as s (namespace, node_count, average_length, unseen_count, refreshed_at)
    select in_namespace, count(*), greatest(coalesce(avg(htm.document_length(tsv)), 1), 1), 0, now()
      from htm.nodes where namespace = in_namespace and deleted_at is null
    on conflict (namespace) do update
       set (node_count, average_length, unseen_count, refreshed_at)
         = (excluded.node_count, excluded.average_length, greatest(s.unseen_count - seen, 0), excluded.refreshed_at);
end $$;
alter table htm.namespace_statistics drop column average_lexemes;
