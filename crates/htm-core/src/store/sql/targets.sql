-- What a node's jobs are for, as the beginning of a statement that enqueues those that are lacking: each stage with its
-- queue, its model, and the model whose completion is its result. Every embedding model in use gets every node.
-- remember.sql and remember_one.sql, whose plans are tuned, say the same.
--
-- :embedding_model text as long as none is registered   :tag_model text
--
-- Index: none; the models are few
with target as materialized (
    select 'embed' as stage, queue, label as model, label as done_by
      from htm.embedding_models
     where state <> 'retired' and queue is not null
    union all
    select 'embed', 'htm.embed', :embedding_model::text, :embedding_model::text
     where not exists (select from htm.embedding_models where state <> 'retired')
    union all
    select 'tag', 'htm.tag', :tag_model::text, null -- whoever tagged it
)
