create table htm.robots (
    id          bigint generated always as identity constraint robots_pk primary key,
    uuid        uuid not null default gen_random_uuid() constraint robots_uuid_key unique,
    namespace   text collate "C" not null
                constraint robots_namespace_valid check (octet_length(namespace) between 1 and 128),
    name        text collate "C" not null
                constraint robots_name_valid check (octet_length(name) between 1 and 128),
    metadata    jsonb not null default '{}'
                constraint robots_metadata_size check (pg_column_size(metadata) <= 1048576),
    created_at  timestamptz not null default now(),
    last_active timestamptz,
    constraint robots_namespace_name_key unique (namespace, name)
);
comment on table htm.robots is 'The agents that remember; a name is unique in its namespace.';
comment on column htm.robots.last_active is 'To the minute: it is written off the path of the robot''s calls.';

-- A program that has a robot open goes on as the robot that it was merged into.
create table htm.merged_robots (
    robot_id bigint not null constraint merged_robots_pk primary key,
    into_id  bigint not null constraint merged_robots_into_fk references htm.robots on delete cascade
);
create index merged_robots_into_idx on htm.merged_robots (into_id);
comment on table htm.merged_robots is 'Robots that are no more, and the robots that have what was theirs.';
