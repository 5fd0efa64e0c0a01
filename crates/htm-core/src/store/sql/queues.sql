-- The names of the queues: one for tags, one for learning, one for each registered model, and that of the first model.
--
-- Index: none; the models are few
select 'htm.embed' as queue union select 'htm.tag' union select 'htm.learn'
union select queue from htm.embedding_models where queue is not null
