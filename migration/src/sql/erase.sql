-- Erasures: who erased what, and the numbers of the erased nodes, so that a trace can be looked for.
--
-- There is no text here and no hash of one. Whoever reads a hash, and its key beside it, can test a guess of the text: it
-- would be a trace. A person who wants to look for the text itself gives it to the verification, which keeps nothing.
create table htm.erasures (
    id             bigint generated always as identity constraint erasures_pk primary key,
    asked_by       text not null,
    selection      text not null
                   constraint erasures_selection_known check (selection in ('memories', 'matching', 'robot', 'namespace')),
    robot          text collate "C",
    namespaces     text[] collate "C" not null
                   constraint erasures_namespaces_number check (cardinality(namespaces) >= 1),
    memories       bigint not null default 0 constraint erasures_memories_not_negative check (memories >= 0),
    removed        jsonb not null default '{}' constraint erasures_removed_object check (jsonb_typeof(removed) = 'object'),
    tags           bigint[] not null default '{}',
    began_at       timestamptz not null default clock_timestamp(),
    changed_at     timestamptz not null default clock_timestamp(),
    changed_by     xid8 not null default pg_current_xact_id(),
    ended_at       timestamptz,
    wal_position   pg_lsn,
    vacuum         jsonb,
    constraint erasures_robot_of_selection check ((selection = 'robot') = (robot is not null))
);
comment on column htm.erasures.asked_by is 'A key of the API, or the robot of a program.';
comment on column htm.erasures.namespaces is 'The namespaces of the erased nodes.';
comment on column htm.erasures.memories is 'The number of nodes to erase.';
comment on column htm.erasures.removed is 'The number of rows removed from each table.';
comment on column htm.erasures.tags is 'The tags that erased nodes had, and the tags above these, by id.';
comment on column htm.erasures.changed_at is 'When its last transaction removed something.';
comment on column htm.erasures.changed_by is 'That transaction. An open snapshot that does not see it still reads what was erased.';
comment on column htm.erasures.wal_position is 'The end of the write-ahead log after the last removal.';
comment on column htm.erasures.vacuum is 'The tables that were vacuumed after the last removal, and when.';
-- The last ones first.
create index erasures_changed_at_idx on htm.erasures (changed_at);

-- The nodes of an erasure, up to 1,000 a row: each row is one transaction. An interrupted erasure goes on with those
-- whose time is null.
create table htm.erased_nodes (
    erasure_id bigint not null constraint erased_nodes_erasure_fk references htm.erasures on delete cascade,
    chunk      integer not null,
    nodes      bigint[] not null
               constraint erased_nodes_number check (cardinality(nodes) between 1 and 1000),
    erased_at  timestamptz,
    constraint erased_nodes_pk primary key (erasure_id, chunk)
);
