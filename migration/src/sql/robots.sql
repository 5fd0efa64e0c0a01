create table htm.robots (
    id          bigint generated always as identity constraint robots_pk primary key,
    uuid        uuid not null default gen_random_uuid() constraint robots_uuid_key unique,
    namespace   text collate "C" not null
                constraint robots_namespace_valid check (octet_length(namespace) between 1 and 512),
    name        text collate "C" not null
                constraint robots_name_valid check (octet_length(name) between 1 and 128),
    metadata    jsonb not null default '{}'
                constraint robots_metadata_size check (pg_column_size(metadata) <= 1048576),
    created_at  timestamptz not null default now(),
    last_active timestamptz,
    max_tokens  bigint constraint robots_max_tokens_positive check (max_tokens > 0),
    constraint robots_namespace_name_key unique (namespace, name)
);
comment on table htm.robots is 'The agents. A name is unique in its namespace.';
comment on column htm.robots.max_tokens is 'The token budget of its working memory. Null: the setting of the program that opens it.';
comment on column htm.robots.last_active is 'To the minute. It is saved in the background.';

-- A program with an open handle of a merged robot goes on as the robot that it was merged into.
create table htm.merged_robots (
    robot_id bigint not null constraint merged_robots_pk primary key,
    into_id  bigint not null constraint merged_robots_into_fk references htm.robots on delete cascade
);
create index merged_robots_into_idx on htm.merged_robots (into_id);
comment on table htm.merged_robots is 'Merged robots, and the robots that they were merged into.';
