-- What two tiers need: a robot's working memory that outlives its process, memories said twice, robots that are seen,
-- groups of robots. Programs of schema version 2 that still run work on beside it.

-- ── memories that are said again ────────────────────────────────────────────────────────────────────────
-- Columns of a constant default: no table is rewritten. What was remembered before has null in both: when is not
-- known, and it is no duplicate of anything.
alter table htm.nodes
    add column remembered_at   timestamptz,
    add column duplicate_scope bigint;
alter table htm.nodes alter column remembered_at set default now();
comment on column htm.nodes.remembered_at is 'When it was written first; created_at is when it happened.';
comment on column htm.nodes.duplicate_scope is
    'Within what its content may stand once: 0 its namespace, else the robot of this id; null: it may stand again.';
create unique index nodes_duplicate_key on htm.nodes (namespace, duplicate_scope, content_hash)
    where duplicate_scope is not null and deleted_at is null;
-- Forgotten nodes, to be purged or restored.
create index nodes_deleted_at_idx on htm.nodes (deleted_at) where deleted_at is not null;

-- A row only for what was said again: the first time is the node itself.
create table htm.repeats (
    node_id  bigint not null constraint repeats_node_fk references htm.nodes on delete cascade,
    robot_id bigint not null constraint repeats_robot_fk references htm.robots,
    count    bigint not null default 1 constraint repeats_count_positive check (count >= 1),
    first_at timestamptz not null default now(),
    last_at  timestamptz not null default now(),
    constraint repeats_pk primary key (node_id, robot_id)
);
comment on table htm.repeats is 'How often a robot said again what was remembered already.';

-- ── conversations ───────────────────────────────────────────────────────────────────────────────────────
-- What was said around a memory, and the timeline of a conversation.
-- By hash: a session's name may be longer than an index entry.
create index nodes_session_idx on htm.nodes (namespace, md5(session), created_at) where session is not null;

-- ── statistics ──────────────────────────────────────────────────────────────────────────────────────────
-- As in version 1, but what changes while it counts stays noted for the next time.
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
comment on column htm.namespace_statistics.unseen_count is 'Nodes written, edited, forgotten or restored since the last refresh.';

-- ── robots ──────────────────────────────────────────────────────────────────────────────────────────────
alter table htm.robots add column last_active timestamptz;
comment on column htm.robots.last_active is 'To the minute: it is written off the path of the robot''s calls.';

-- ── working memory ──────────────────────────────────────────────────────────────────────────────────────
-- What each robot has in mind: written behind the calls, read when the robot starts again.
create table htm.working_memory (
    robot_id    bigint not null constraint working_memory_robot_fk references htm.robots on delete cascade,
    node_id     bigint not null constraint working_memory_node_fk references htm.nodes on delete cascade,
    added_at    timestamptz not null default now(),
    accessed_at timestamptz not null default now(),
    accesses    bigint not null default 0 constraint working_memory_accesses_positive check (accesses >= 0),
    constraint working_memory_pk primary key (robot_id, node_id)
);
create index working_memory_node_idx on htm.working_memory (node_id);

-- ── groups of robots ────────────────────────────────────────────────────────────────────────────────────
create table htm.robot_groups (
    id         bigint generated always as identity constraint robot_groups_pk primary key,
    namespace  text collate "C" not null
               constraint robot_groups_namespace_valid check (octet_length(namespace) between 1 and 128),
    name       text collate "C" not null
               constraint robot_groups_name_valid check (octet_length(name) between 1 and 128),
    max_tokens bigint not null constraint robot_groups_max_tokens_positive check (max_tokens > 0),
    -- Counts the changes of its working memory: who has seen this version has seen them all.
    version    bigint not null default 0,
    -- Up to this version, removals may be forgotten: who has seen less reads all of the memory.
    pruned_version bigint not null default 0,
    created_at timestamptz not null default now(),
    -- Nobody is a member of a closed group; joining it opens it again.
    closed_at  timestamptz,
    constraint robot_groups_namespace_name_key unique (namespace, name)
);

create table htm.group_members (
    group_id  bigint not null constraint group_members_group_fk references htm.robot_groups on delete cascade,
    robot_id  bigint not null constraint group_members_robot_fk references htm.robots on delete cascade,
    role      text not null constraint group_members_role_known check (role in ('active', 'passive')),
    -- The process that speaks for it, new at each start; and how long that may go unseen.
    session   uuid not null,
    lease_ms  bigint not null constraint group_members_lease_positive check (lease_ms > 0),
    seen_at   timestamptz not null default now(),
    -- The version of the memory that it has.
    seen_version bigint not null default 0,
    joined_at timestamptz not null default now(),
    constraint group_members_pk primary key (group_id, robot_id)
);
create index group_members_robot_idx on htm.group_members (robot_id);

-- Its working memory. A row that was removed stays, marked, until all living members have seen its version.
create table htm.group_memory (
    group_id    bigint not null constraint group_memory_group_fk references htm.robot_groups on delete cascade,
    node_id     bigint not null constraint group_memory_node_fk references htm.nodes on delete cascade,
    version     bigint not null,
    robot_id    bigint constraint group_memory_robot_fk references htm.robots on delete set null,
    added_at    timestamptz not null default now(),
    accessed_at timestamptz not null default now(),
    accesses    bigint not null default 0 constraint group_memory_accesses_positive check (accesses >= 0),
    removed_at  timestamptz,
    constraint group_memory_pk primary key (group_id, node_id)
);
create index group_memory_version_idx on htm.group_memory (group_id, version);
create index group_memory_node_idx on htm.group_memory (node_id);
