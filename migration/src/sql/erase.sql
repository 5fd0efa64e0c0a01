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

-- The planner's samples of values, which nobody but the owner of a table with policies sees: pg_stats has no row of it for
-- other roles. So this counts as the owner, for every role that verifies an erasure.
--
-- Traces are the tables from which an erasure removed rows, and of which there are samples from before: they were not
-- analyzed since, or they are empty, which an analyze passes over. Mentions are the columns with samples that contain a
-- form of a text. Unseen are the tables of which the owner of this function sees no samples either.
create function htm.count_samples(in_erasure bigint, in_forms text[])
    returns table (traces bigint, mentions bigint, unseen bigint)
    language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
    with places as materialized (
        select c.oid, n.nspname, c.relname, n.nspname || '.' || coalesce(parent.relname, t.relname) as of_table,
               coalesce(greatest(s.last_analyze, s.last_autoanalyze) <= e.changed_at, true) or t.reltuples = 0 as is_old
          from htm.erasures e
         cross join pg_class c
          join pg_namespace n on n.oid = c.relnamespace
          left join pg_index x on x.indexrelid = c.oid -- of an expression: its samples are under the index's name
          join pg_class t on t.oid = coalesce(x.indrelid, c.oid)
          join pg_stat_all_tables s on s.relid = t.oid
          left join pg_inherits i on i.inhrelid = t.oid
          left join pg_class parent on parent.oid = i.inhparent -- of a partition
         where e.id = in_erasure and n.nspname in ('htm', 'apalis')
    ), sampled as (
        select p.of_table, p.is_old,
               htm.caseless(concat_ws(' ', s.most_common_vals::text, s.histogram_bounds::text,
                                      s.most_common_elems::text)) as sample
          from places p join pg_stats s on (s.schemaname, s.tablename) = (p.nspname, p.relname)
    ), sought as materialized (
        select distinct htm.caseless(form) as form from unnest(in_forms) form
    )
    select (select count(distinct m.of_table) from sampled m, htm.erasures e
             where e.id = in_erasure and m.is_old
               and (e.removed ? m.of_table or m.of_table = 'htm.lexeme_statistics')), -- words are counted anew
           (select count(*) from sampled m
             where exists (select from sought f where f.form <> '' and strpos(m.sample, f.form) > 0)),
           (select count(distinct p.of_table) from places p
             where row_security_active(p.oid) or not has_table_privilege(p.oid, 'select'));
end;
revoke execute on function htm.count_samples from public;
