-- What operations_up.sql made beside the tables of version 1; columns, view and function go with those.
drop function htm.spend, htm.finish_call, htm.acquire_call;
drop function htm.drop_embedding_store, htm.revive_embedding_model, htm.make_embedding_store, htm.embedding_index;
drop table htm.budgets, htm.provider_calls, htm.providers, htm.backfills, htm.paused_queues, htm.compatibility;
drop index apalis.jobs_htm_done_idx, apalis.jobs_htm_dead_idx, apalis.jobs_htm_parked_idx, htm.completions_model_idx;
alter table apalis.jobs drop constraint jobs_htm_state_possible, drop constraint jobs_htm_attempts_possible;
