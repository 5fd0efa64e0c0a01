-- The working memory of each robot. It is saved in the background, and read when the robot is opened again.
create table htm.working_memory (
    robot_id    bigint not null constraint working_memory_robot_fk references htm.robots on delete cascade,
    namespace   text collate "C" not null,
    node_id     bigint not null,
    added_at    timestamptz not null default now(),
    accessed_at timestamptz not null default now(),
    accesses    bigint not null default 0 constraint working_memory_accesses_positive check (accesses >= 0),
    constraint working_memory_pk primary key (robot_id, node_id, namespace),
    constraint working_memory_node_fk foreign key (node_id, namespace) references htm.nodes (id, namespace) on delete cascade
);
create index working_memory_node_idx on htm.working_memory (node_id);

-- ── groups of robots ────────────────────────────────────────────────────────────────────────────────────
create table htm.robot_groups (
    id         bigint generated always as identity constraint robot_groups_pk primary key,
    namespace  text collate "C" not null
               constraint robot_groups_namespace_valid check (octet_length(namespace) between 1 and 512),
    name       text collate "C" not null
               constraint robot_groups_name_valid check (octet_length(name) between 1 and 128),
    max_tokens bigint not null constraint robot_groups_max_tokens_positive check (max_tokens > 0),
    -- Counts the changes of its working memory. A member that has seen this version is up to date.
    version    bigint not null default 0,
    -- Removals up to this version may be deleted. A member with an older version reads the whole memory.
    pruned_version bigint not null default 0,
    created_at timestamptz not null default now(),
    -- A closed group has no members. Joining it opens it again.
    closed_at  timestamptz,
    constraint robot_groups_namespace_name_key unique (namespace, name)
);

create table htm.group_members (
    group_id  bigint not null constraint group_members_group_fk references htm.robot_groups on delete cascade,
    robot_id  bigint not null constraint group_members_robot_fk references htm.robots on delete cascade,
    role      text not null constraint group_members_role_known check (role in ('active', 'passive')),
    -- The id of the membership, new at each join, and how long the member may go unseen.
    membership uuid not null,
    lease_ms  bigint not null constraint group_members_lease_positive check (lease_ms > 0),
    seen_at   timestamptz not null default now(),
    -- The version of the memory that the member has seen.
    seen_version bigint not null default 0,
    joined_at timestamptz not null default now(),
    constraint group_members_pk primary key (group_id, robot_id)
);
create index group_members_robot_idx on htm.group_members (robot_id);

-- The working memory of a group. A removed row stays, marked, until all live members have seen its version.
create table htm.group_memory (
    group_id    bigint not null constraint group_memory_group_fk references htm.robot_groups on delete cascade,
    namespace   text collate "C" not null,
    node_id     bigint not null,
    version     bigint not null,
    robot_id    bigint constraint group_memory_robot_fk references htm.robots on delete set null,
    added_at    timestamptz not null default now(),
    accessed_at timestamptz not null default now(),
    accesses    bigint not null default 0 constraint group_memory_accesses_positive check (accesses >= 0),
    removed_at  timestamptz,
    constraint group_memory_pk primary key (group_id, node_id, namespace),
    constraint group_memory_node_fk foreign key (node_id, namespace) references htm.nodes (id, namespace) on delete cascade
);
create index group_memory_version_idx on htm.group_memory (group_id, version);
create index group_memory_node_idx on htm.group_memory (node_id);
