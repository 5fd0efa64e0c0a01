-- The possible states of a job; see the diagram in ARCHITECTURE.md. A statement that leads to another state fails.
alter table apalis.jobs
    add constraint jobs_htm_state_possible check (job_type not like 'htm.%' or case status
        when 'Pending' then lock_by is null and lock_at is null and done_at is null
        when 'Running' then lock_by is not null and lock_at is not null and done_at is null
        when 'Done'    then lock_by is null and lock_at is null and done_at is not null
        when 'Killed'  then lock_by is null and lock_at is null and done_at is not null
        else false end),
    add constraint jobs_htm_attempts_possible
        check (job_type not like 'htm.%' or attempts between 0 and max_attempts),
    -- A claim looks up each known priority by the index. A job with another one would never be claimed.
    add constraint jobs_htm_priority_known
        check (job_type not like 'htm.%' or (priority is not null and priority in (0, -1, -2, -10)));
-- Each index costs time at every write, and these two duplicate idx_apalis_jobs_lock_by and jobs_pkey.
drop index if exists apalis.lidx, apalis.unique_job_id;
create index jobs_htm_done_idx on apalis.jobs (done_at) where status = 'Done' and job_type like 'htm.%';
-- Every worker is scraped every few seconds, so no count may read the jobs that are done or simply wait.
create index jobs_htm_dead_idx on apalis.jobs (job_type, done_at) where status in ('Killed', 'Failed');
create index jobs_htm_parked_idx on apalis.jobs (job_type, run_at) where status = 'Pending' and metadata ? 'parked';
-- The open jobs of a node, for its status and for the count of nodes that recall cannot find yet, which passes over the jobs
-- of other queues within the index.
create index jobs_htm_open_idx on apalis.jobs ((metadata -> 'namespace'), (metadata -> 'node'), job_type)
    where status <> 'Done' and job_type like 'htm.%';
-- Claims and acks update rows all the time. Vacuum early, or the claim's index scans dead rows.
alter table apalis.jobs set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

-- How long each worker may go unseen, by its own configuration and not by that of the worker that checks it.
create table htm.worker_leases (
    worker   text not null constraint worker_leases_pk primary key
             constraint worker_leases_worker_fk references apalis.workers on delete cascade,
    lease_ms bigint not null constraint worker_leases_lease_positive check (lease_ms > 0),
    -- The time of the oldest claim that the worker holds. Null: none.
    held_since timestamptz
);

-- No jobs are claimed from a queue in this table.
create table htm.paused_queues (
    queue     text not null constraint paused_queues_pk primary key,
    reason    text not null,
    paused_at timestamptz not null default now()
);

-- No jobs are claimed from a held queue until the given time. A worker holds its queue if the database rejects results,
-- for example on a full disk. The rows of the first queues exist from the start, because on a full disk a row can be
-- updated within its page, but no page can be added.
create table htm.held_queues (
    queue  text not null constraint held_queues_pk primary key,
    reason text not null default '',
    until  timestamptz not null default '-infinity'
);
insert into htm.held_queues (queue) values ('htm.embed'), ('htm.tag'), ('htm.learn');

-- The lasting record of done jobs. It includes jobs that gave no tags, and stays after the job's row is pruned. The stage
-- split is of the jobs of a split, which replace one tag: the others are as the completion of the stage tag says.
create table htm.completions (
    namespace text collate "C" not null,
    node_id   bigint not null,
    revision  integer not null,
    stage     text not null constraint completions_stage_known check (stage in ('embed', 'tag', 'split')),
    model     text not null,
    version   text not null default '',
    outcome   text not null,
    worker    text not null,
    attempt   integer not null,
    done_at   timestamptz not null default now(),
    constraint completions_pk primary key (node_id, revision, stage, model, namespace),
    constraint completions_node_fk foreign key (node_id, namespace) references htm.nodes (id, namespace) on delete cascade
);
create index completions_model_idx on htm.completions (stage, model, node_id);
create index completions_done_at_idx on htm.completions using brin (done_at);

-- Live nodes without their artefact, an open job or a dead letter, for the active model and for tags. The pipeline
-- promises that this view is empty. A vector that a caller has yet to bring is not the pipeline's.
create view htm.stranded as
select n.id as node_id, n.namespace, n.revision, s.stage
  from htm.nodes n
 cross join (select 'embed' as stage, label as model, queue from htm.embedding_models
              where state = 'active' and queue is not null
             union all
             select 'embed', null, 'htm.embed' where not exists (select from htm.embedding_models where state = 'active')
             union all
             select 'tag', null, 'htm.tag') s
 where n.deleted_at is null
   and not exists (select from htm.completions c
                    where c.node_id = n.id and c.namespace = n.namespace and c.revision = n.revision
                      and c.stage = s.stage and (s.model is null or c.model = s.model))
   and not exists (select from apalis.jobs j
                    where j.job_type like 'htm.%' and j.job_type = s.queue and j.status <> 'Done'
                      and j.metadata -> 'namespace' = n.namespace collate "default" -- the index's
                      and j.metadata -> 'node' = n.id::text
                      and j.metadata -> 'revision' = n.revision::text);

-- The runs of backfills, with their positions. An interrupted run goes on from its position. A run with max_queued is a
-- server's: one server at a time goes on with it.
create table htm.backfills (
    id          bigint generated always as identity constraint backfills_pk primary key,
    queue       text not null,
    model       text not null,
    namespace   text,
    since       timestamptz,
    forced      boolean not null,
    cursor_node bigint not null default 0,
    last_node   bigint not null,
    enqueued    bigint not null default 0,
    started_at  timestamptz not null default now(),
    finished_at timestamptz,
    cancelled   boolean not null default false constraint backfills_cancelled_is_finished
                check (not cancelled or finished_at is not null),
    version     text,
    max_queued  bigint constraint backfills_max_queued_positive check (max_queued > 0),
    server      text,
    served_until timestamptz
);
comment on column htm.backfills.version is 'Only what another version of the prompt or the rules has tagged. Null: all.';
comment on column htm.backfills.max_queued is 'The most backfill jobs in the queue. Null: a program other than a server goes on with it.';
comment on column htm.backfills.served_until is 'Until then no other server goes on with it.';
create index backfills_served_idx on htm.backfills (id) where finished_at is null and max_queued is not null;
create unique index backfills_one_open on htm.backfills
    (queue, model, coalesce(namespace, ''), coalesce(since, '-infinity'), forced) where finished_at is null;
