-- Who may do what: the keys of the API, the quotas of namespaces, and the log of what was done.

-- Whether a namespace is among the given ones. `tenant-7/*` stands for every namespace below `tenant-7`.
create function htm.is_within(in_namespace text, in_namespaces text[]) returns boolean
    language sql immutable strict parallel safe
    return in_namespace = any (in_namespaces)
        or exists (select from unnest(in_namespaces) s(namespace)
                    where s.namespace like '%/*'
                      and starts_with(in_namespace, left(s.namespace, -1))
                      and length(in_namespace) >= length(s.namespace));

create table htm.api_keys (
    id                  text collate "C" not null constraint api_keys_pk primary key
                        constraint api_keys_id_form check (id ~ '^[0-9a-f]{12}$'),
    digest              bytea not null constraint api_keys_digest_size check (octet_length(digest) = 32),
    name                text constraint api_keys_name_size check (octet_length(name) between 1 and 128),
    role                text not null constraint api_keys_role_known check (role in ('reader', 'writer', 'admin')),
    namespaces          text[] collate "C"
                        constraint api_keys_namespaces_number check (cardinality(namespaces) between 1 and 100),
    robot               text collate "C" constraint api_keys_robot_valid check (octet_length(robot) between 1 and 128),
    requests_per_minute integer constraint api_keys_rate_positive check (requests_per_minute > 0),
    created_at          timestamptz not null default now(),
    expires_at          timestamptz,
    revoked_at          timestamptz,
    last_used_at        timestamptz
);
comment on table htm.api_keys is 'The keys of the API. A revoked one stays, so that its use is told from a wrong one.';
comment on column htm.api_keys.id is 'The visible part of the key.';
comment on column htm.api_keys.digest is 'The SHA-256 of the secret part, which has 256 random bits and is kept nowhere.';
comment on column htm.api_keys.namespaces is 'The namespaces that it sees, or `tenant-7/*`; null: all.';
comment on column htm.api_keys.robot is 'The robot that its requests act as; null: the one that a request names.';
comment on column htm.api_keys.last_used_at is 'To the minute.';

-- The browsers that were signed in with a key, by the SHA-256 of a random token that they hold.
create table htm.sign_ins (
    digest      bytea not null constraint sign_ins_pk primary key
                constraint sign_ins_digest_size check (octet_length(digest) = 32),
    key_id      text collate "C" not null constraint sign_ins_key_fk references htm.api_keys on delete cascade,
    issued_at   timestamptz not null default now(),
    ends_at     timestamptz not null,
    is_replaced boolean not null default false
);
create index sign_ins_ends_at_idx on htm.sign_ins (ends_at);
create index sign_ins_key_idx on htm.sign_ins (key_id);
comment on column htm.sign_ins.is_replaced is 'Whether the browser has a newer token. This one is accepted for a minute more.';

-- A row for each namespace with a quota, and for `tenant-7/*` if all below `tenant-7` share a quota of requests. Null: no
-- limit.
create table htm.quotas (
    namespace    text collate "C" not null constraint quotas_pk primary key
                 constraint quotas_namespace_valid check (octet_length(namespace) between 1 and 512),
    max_memories bigint constraint quotas_memories_not_negative check (max_memories >= 0),
    max_bytes    bigint constraint quotas_bytes_not_negative check (max_bytes >= 0),
    requests_per_minute integer constraint quotas_rate_positive check (requests_per_minute > 0),
    -- The requests of a minute that servers have taken. Each takes several at a time.
    minute       timestamptz,
    taken        integer not null default 0 constraint quotas_taken_not_negative check (taken >= 0),
    constraint quotas_says_something check (num_nonnulls(max_memories, max_bytes, requests_per_minute) > 0)
) with (fillfactor = 50);
comment on column htm.quotas.max_memories is 'The most live memories.';
comment on column htm.quotas.max_bytes is 'The most bytes of their texts.';
comment on column htm.quotas.requests_per_minute is 'The most requests a minute of callers that are bound to it.';

-- How many requests of a minute the servers have taken for a key. Each takes several at a time, so a request does not
-- usually write here. A crash of PostgreSQL may empty it.
create unlogged table htm.request_rates (
    key_id text collate "C" not null constraint request_rates_pk primary key
           constraint request_rates_key_fk references htm.api_keys on delete cascade,
    minute timestamptz not null,
    taken  integer not null constraint request_rates_not_negative check (taken >= 0)
) with (fillfactor = 50);

-- Changes of the ontology have their own log, htm.tag_changes.
create table htm.audit_log (
    id        bigint generated always as identity constraint audit_log_pk primary key,
    at        timestamptz not null default clock_timestamp(),
    actor     text not null,
    action    text not null,
    namespace text collate "C",
    subject   text,
    details   jsonb not null default '{}' constraint audit_log_details_object check (jsonb_typeof(details) = 'object')
);
comment on table htm.audit_log is 'Who changed keys, quotas and policies, and who deleted memories. It has no texts of memories.';
comment on column htm.audit_log.namespace is 'Null: all.';
