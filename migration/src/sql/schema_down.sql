-- Everything HTM made. Extensions stay: other applications of the database may use them.
drop index if exists apalis.jobs_htm_open_idx;
drop view htm.stranded;
drop table htm.statistics_watermark, htm.lexeme_statistics, htm.namespace_statistics, htm.completions,
    htm.worker_leases;
do $$
declare model_id integer;
begin
    for model_id in select id from htm.embedding_models loop
        execute format('drop table if exists htm.embeddings_%s', model_id);
    end loop;
end $$;
drop table htm.embedding_models, htm.node_tags, htm.tags, htm.nodes, htm.robots;
drop function htm.refresh_statistics, htm.register_embedding_model, htm.document_length, htm.text_vector;
