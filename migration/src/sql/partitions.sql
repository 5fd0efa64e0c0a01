-- The layout of htm.nodes and of the tables that grow with it: flat, or in partitions by hash of the namespace. A change of
-- the layout fills new tables in the schema htm_next, in bounded transactions and beside writes, and swaps them at the end:
-- migration/src/partitions.rs calls these functions in order. The new tables are made from the catalog, so that no
-- definition is written twice.

-- The number of partitions; 0: flat.
create function htm.partitions() returns integer language sql stable as $$
    select count(*)::integer from pg_inherits where inhparent = 'htm.nodes'::regclass
$$;

-- The tables of the layout, htm.nodes first: the others refer to it.
create function htm.laid_out_tables() returns table (name name) language sql stable as $$
    select c.relname from pg_class c
     where c.relnamespace = 'htm'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
       and (c.relname in ('nodes', 'node_tags', 'completions') or c.relname ~ '^embeddings_[0-9]+$')
     order by c.relname <> 'nodes', c.relname
$$;

-- The tables that have the rows of a table: its partitions, or itself.
create function htm.leaves(in_table regclass) returns setof regclass language sql stable as $$
    select inhrelid::regclass from pg_inherits where inhparent = in_table
    union all
    select in_table where not exists (select from pg_inherits where inhparent = in_table)
$$;

-- The bytes of a table with its indexes, and of its partitions.
create function htm.table_bytes(in_table regclass) returns bigint language sql volatile as $$
    select sum(pg_total_relation_size(leaf))::bigint from htm.leaves(in_table) leaf
$$;

create function htm.make_partitions(in_table regclass, in_partitions integer) returns void language plpgsql as $$
declare
    parent pg_class;
begin
    select * into strict parent from pg_class where oid = in_table;
    for place in 0 .. in_partitions - 1 loop
        execute format('create table %I.%I partition of %s for values with (modulus %s, remainder %s)',
                       parent.relnamespace::regnamespace, parent.relname || '_p' || place, in_table, in_partitions, place);
    end loop;
end $$;

-- Names the indexes of partitions as those of their table: nodes_p0_tsv_idx for nodes_tsv_idx. Errors name them.
create function htm.name_partial_indexes(in_table regclass) returns void language plpgsql as $$
declare
    part record;
begin
    for part in
        select child.oid::regclass as index, child.relname as unnamed,
               c.relname || substr(parent.relname, length(t.relname) + 1) as name
          from pg_class t
          join pg_index of_table on of_table.indrelid = t.oid
          join pg_class parent on parent.oid = of_table.indexrelid
          join pg_inherits i on i.inhparent = parent.oid
          join pg_class child on child.oid = i.inhrelid
          join pg_index of_part on of_part.indexrelid = child.oid
          join pg_class c on c.oid = of_part.indrelid
         where t.oid = in_table
    loop
        if part.unnamed <> part.name then
            execute format('alter index %s rename to %I', part.index, part.name);
        end if;
    end loop;
end $$;

-- The columns of a table that a statement can write, in a list.
create function htm.written_columns(in_table regclass, in_prefix text) returns text language sql stable as $$
    select string_agg(in_prefix || quote_ident(attname), ', ' order by attnum)
      from pg_attribute where attrelid = in_table and attnum > 0 and not attisdropped and attgenerated = ''
$$;

-- The columns of a table's primary key, in a list.
create function htm.key_columns(in_table regclass, in_prefix text) returns text language sql stable as $$
    select string_agg(in_prefix || quote_ident(a.attname), ', ' order by k.place)
      from pg_index i
     cross join unnest(i.indkey::smallint[]) with ordinality k(attnum, place)
      join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum
     where i.indrelid = in_table and i.indisprimary
$$;

-- The columns of a table that a statement can write, without those of its primary key, in a list.
create function htm.other_columns(in_table regclass, in_prefix text) returns text language sql stable as $$
    select string_agg(in_prefix || quote_ident(attname), ', ' order by attnum)
      from pg_attribute
     where attrelid = in_table and attnum > 0 and not attisdropped and attgenerated = ''
       and not exists (select from pg_index i where i.indrelid = in_table and i.indisprimary and attnum = any (i.indkey))
$$;

-- Locks tables one after the other, in all within 0.9 s. A writer that waits for one of them, and holds another one, would
-- take it for a deadlock after 1 s, and fail: this gives up before. The caller tries again. The locks that follow, of tables
-- that nobody else uses, are not waited for either.
create function htm.lock_within_a_second(in_tables regclass[], in_mode text) returns void language plpgsql as $$
declare
    started timestamptz := clock_timestamp();
    a_table regclass;
begin
    foreach a_table in array in_tables loop
        perform set_config('lock_timeout',
            greatest(900 - extract(milliseconds from clock_timestamp() - started)::integer, 1)::text, true);
        execute format('lock table %s in %s mode', a_table, in_mode);
    end loop;
    perform set_config('lock_timeout', '50', true);
end $$;

-- The tables of the layout, after those that they refer to, and before those that refer to them: the order in which writers
-- use them. In another order, a writer and a change of the layout would wait for each other.
create function htm.tables_to_lock() returns regclass[] language sql stable as $$
    with laid_out as (
        select format('htm.%I', name)::regclass as oid, row_number() over () as place from htm.laid_out_tables()
    ), reference as (
        select k.conrelid, k.confrelid from pg_constraint k join pg_class c on c.oid = k.conrelid
         where k.contype = 'f' and k.conparentid = 0 and c.relnamespace = 'htm'::regnamespace and not c.relispartition
    )
    select array_agg(t.oid::regclass order by t.step, t.place, t.oid)
      from (select distinct 1 as step, 0 as place, confrelid as oid from reference
             where conrelid in (select oid from laid_out) and confrelid not in (select oid from laid_out)
            union all
            select 2, place, oid from laid_out
            union all
            select distinct 3, 0, conrelid from reference
             where confrelid in (select oid from laid_out) and conrelid not in (select oid from laid_out)) t
$$;

-- ── a change of the layout ──────────────────────────────────────────────────────────────────────────────
-- Creates the empty copy of a table in htm_next, and the trigger that writes to both. The copy has the table's columns,
-- constraints, keys and indexes, except those of vectors: filling a table with such an index is slow.
create function htm.make_next(in_table name, in_partitions integer) returns void
    language plpgsql set search_path = pg_catalog, public, pg_temp as $$
declare
    old    regclass := format('htm.%I', in_table);
    new    regclass;
    part   record;
    is_node boolean := in_table = 'nodes';
begin
    execute format('create table htm_next.%I (like %s including comments including constraints including defaults
                    including generated including identity including storage) %s',
                   in_table, old, case when in_partitions > 0 then 'partition by hash (namespace)' end);
    new := format('htm_next.%I', in_table);
    perform htm.make_partitions(new, in_partitions);
    execute format('comment on table %s is %L', new, obj_description(old));
    for part in
        select conname as name, replace(pg_get_constraintdef(oid), 'REFERENCES htm.nodes(', 'REFERENCES htm_next.nodes(') as definition
          from pg_constraint where conrelid = old and contype in ('p', 'u', 'f') and conparentid = 0
         order by contype = 'f'
    loop
        execute format('alter table %s add constraint %I %s', new, part.name, part.definition);
    end loop;
    for part in
        select regexp_replace(pg_get_indexdef(i.indexrelid), ' ON (ONLY )?\S+ USING ', format(' ON %s USING ', new)) as definition
          from pg_index i join pg_class c on c.oid = i.indexrelid join pg_am m on m.oid = c.relam
         where i.indrelid = old and m.amname in ('btree', 'gin', 'brin', 'hash', 'gist')
           and not exists (select from pg_constraint k where k.conindid = i.indexrelid and k.contype in ('p', 'u'))
    loop
        execute part.definition;
    end loop;
    perform htm.name_partial_indexes(new);
    -- What belongs to a node that is not copied yet brings it along, so that the foreign keys hold all the while.
    execute format($ddl$
        create function htm_next.%1$I() returns trigger language plpgsql security definer
            set search_path = pg_catalog, public, pg_temp as $mirror$
        begin
            if tg_op = 'DELETE' then
                delete from htm_next.%2$I where (%3$s) = (%4$s);
                return null;
            end if;
            if tg_op = 'UPDATE' then
                delete from htm_next.%2$I where (%3$s) = (%4$s) and (%4$s) is distinct from (%9$s);
            end if;
            %5$s
            insert into htm_next.%2$I (%6$s) overriding system value values (%7$s)
            on conflict (%3$s) do update set (%10$s) = row (%8$s);
            return null;
        end $mirror$ $ddl$,
        'mirror_' || in_table, in_table, htm.key_columns(old, ''), htm.key_columns(old, 'old.'),
        case when not is_node then format(
            'insert into htm_next.nodes (%1$s) overriding system value
             select %1$s from htm.nodes where id = new.node_id and namespace = new.namespace
             on conflict (id, namespace) do nothing;', htm.written_columns('htm.nodes', '')) end,
        htm.written_columns(old, ''), htm.written_columns(old, 'new.'), htm.other_columns(old, 'excluded.'),
        htm.key_columns(old, 'new.'), htm.other_columns(old, ''));
    execute format('create trigger htm_next after insert or update or delete on %s
                    for each row execute function htm_next.%I()', old, 'mirror_' || in_table);
    insert into htm_next.progress (name) values (in_table);
end $$;

-- Begins a change of the layout, or adds tables that were created since it began. Fails with lock_not_available while
-- others use the tables.
create function htm.begin_layout(in_partitions integer) returns boolean language plpgsql as $$
declare
    a_table name;
begin
    if to_regnamespace('htm_next') is null then
        create schema htm_next;
        create table htm_next.layout (partitions integer not null);
        insert into htm_next.layout values (in_partitions);
        create table htm_next.progress (
            name        name primary key,
            last_node   bigint not null default 0,
            is_complete boolean not null default false);
    end if;
    perform htm.lock_within_a_second(htm.tables_to_lock(), 'share row exclusive');
    for a_table in select t.name from htm.laid_out_tables() t where t.name not in (select p.name from htm_next.progress p) loop
        perform htm.make_next(a_table, in_partitions);
    end loop;
    return true;
end $$;

-- Copies the rows of the next nodes of a table, about in_rows of them. Returns how many were copied, or null when all are. A
-- row that is being written is waited for: after that it is either copied as it is now, or was mirrored.
create function htm.copy_to_next(in_table name, in_rows integer) returns bigint
    language plpgsql set search_path = pg_catalog, public, pg_temp as $$
declare
    node  name := case in_table when 'nodes' then 'id' else 'node_id' end;
    first bigint;
    last  bigint;
    rows  bigint;
begin
    select p.last_node into strict first from htm_next.progress p where p.name = in_table for update;
    execute format('select max(node) from (select %1$I as node from htm.%2$I where %1$I > $1 order by 1 limit $2) chunk',
                   node, in_table) into last using first, in_rows;
    if last is null then
        update htm_next.progress p set is_complete = true where p.name = in_table;
        return null;
    end if;
    execute format('with chunk as materialized (
                        select %1$s from htm.%2$I where %3$I > $1 and %3$I <= $2 order by %3$I for share)
                    insert into htm_next.%2$I (%1$s) overriding system value select %1$s from chunk
                    on conflict (%4$s) do nothing',
                   htm.written_columns(format('htm.%I', in_table), ''), in_table, node,
                   htm.key_columns(format('htm.%I', in_table), '')) using first, last;
    get diagnostics rows = row_count;
    update htm_next.progress p set last_node = last where p.name = in_table;
    return rows;
end $$;

-- Swaps the tables of htm_next for those of htm, which are moved to htm_previous. False, and nothing is done, if a table
-- was created since begin_layout. Fails with lock_not_available while others use the tables.
create function htm.finish_layout() returns boolean
    language plpgsql set search_path = pg_catalog, public, pg_temp as $$
declare
    old        regclass[];
    a_table    name;
    part       regclass;
    grants     text[];
    views      text[];
    keys       text[];
    statement  text;
begin
    perform htm.lock_within_a_second(htm.tables_to_lock(), 'access exclusive');
    if exists (select from htm.laid_out_tables() t
                where not exists (select from htm_next.progress p where p.name = t.name and p.is_complete)) then
        return false;
    end if;
    for a_table in select p.name from htm_next.progress p where p.name not in (select name from htm.laid_out_tables()) loop
        execute format('drop table htm_next.%I', a_table); -- of a model that was dropped
    end loop;
    old := array(select format('htm.%I', name)::regclass from htm.laid_out_tables());
    foreach part in array old loop
        select relname into a_table from pg_class where oid = part;
        if htm.written_columns(part, '') is distinct from htm.written_columns(format('htm_next.%I', a_table), '') then
            raise exception 'the columns of % were changed since the change of the layout began', part
                using errcode = 'object_not_in_prerequisite_state';
        end if;
        execute format('drop trigger htm_next on %s', part);
    end loop;
    grants := array(
        select format('grant %s on %s htm.%I to %s%s', g.privilege_type, case c.relkind when 'S' then 'sequence' else 'table' end,
                      c.relname, case g.grantee when 0 then 'public' else g.grantee::regrole::text end,
                      case when g.is_grantable then ' with grant option' end)
          from pg_class c cross join aclexplode(c.relacl) g
         where (c.oid = any (old) or c.oid = 'htm.nodes_id_seq'::regclass) and g.grantee <> c.relowner);
    if (select relrowsecurity from pg_class where oid = 'htm.nodes'::regclass) then
        grants := grants || array(
            select format('select htm.set_row_policies(%L, %L)', format('htm.%I', c.relname), htm.row_is_seen('namespace'))
              from pg_class c where c.oid = any (old));
    end if;
    views := array(
        select format('create or replace view %s as %s', v.view, pg_get_viewdef(v.view))
          from (select distinct r.ev_class::regclass as view
                  from pg_depend d join pg_rewrite r on r.oid = d.objid
                 where d.classid = 'pg_rewrite'::regclass and d.refclassid = 'pg_class'::regclass and d.refobjid = any (old)) v);
    keys := array(
        select format('alter table %s add constraint %I %s not valid', k.conrelid::regclass, k.conname, pg_get_constraintdef(k.oid))
          from pg_constraint k
         where k.contype = 'f' and k.confrelid = any (old) and k.conrelid <> all (old) and k.conparentid = 0
           and not exists (select from pg_class c where c.oid = k.conrelid
                            and c.relnamespace in ('htm_next'::regnamespace)));
    for statement in
        select format('alter table %s drop constraint %I', k.conrelid::regclass, k.conname)
          from pg_constraint k
         where k.contype = 'f' and k.confrelid = any (old) and k.conrelid <> all (old) and k.conparentid = 0
           and not exists (select from pg_class c where c.oid = k.conrelid
                            and (c.relnamespace = 'htm_next'::regnamespace or c.relispartition))
    loop
        execute statement;
    end loop;
    create schema htm_previous;
    for a_table in select name from htm.laid_out_tables() loop
        perform htm.move_table(a_table, 'htm', 'htm_previous');
        perform htm.move_table(a_table, 'htm_next', 'htm');
    end loop;
    perform setval('htm.nodes_id_seq', s.last_value, s.is_called) from htm_previous.nodes_id_seq s;
    foreach statement in array views || keys || grants loop
        execute statement;
    end loop;
    drop schema htm_next cascade;
    return true;
end $$;

-- Moves a table and its partitions to another schema, with its indexes and sequences.
create function htm.move_table(in_table name, in_from name, in_to name) returns void language plpgsql as $$
declare
    part regclass;
begin
    for part in select leaf from htm.leaves(format('%I.%I', in_from, in_table)) leaf
                union select format('%I.%I', in_from, in_table)::regclass loop
        execute format('alter table %s set schema %I', part, in_to);
    end loop;
end $$;

-- Drops the tables of the previous layout. Fails if something outside of HTM depends on them.
create function htm.drop_previous_layout() returns boolean language plpgsql as $$
declare
    former text;
begin
    select string_agg(c.oid::regclass::text, ', ') into former from pg_class c
     where c.relnamespace = to_regnamespace('htm_previous') and c.relkind in ('r', 'p') and not c.relispartition;
    if former is not null then
        perform htm.lock_within_a_second(htm.tables_to_lock(), 'access exclusive');
        execute 'drop table ' || former;
    end if;
    drop schema if exists htm_previous;
    return true;
end $$;

-- Ends a change of the layout before the swap. Nothing is changed.
create function htm.abandon_layout() returns boolean language plpgsql as $$
declare
    a_table name;
begin
    perform htm.lock_within_a_second(htm.tables_to_lock(), 'access exclusive');
    for a_table in select t.name from htm.laid_out_tables() t loop
        execute format('drop trigger if exists htm_next on htm.%I', a_table);
    end loop;
    drop schema if exists htm_next cascade;
    return true;
end $$;

revoke execute on function htm.make_partitions, htm.name_partial_indexes, htm.lock_within_a_second, htm.make_next, htm.begin_layout, htm.copy_to_next, htm.finish_layout,
    htm.move_table, htm.drop_previous_layout, htm.abandon_layout from public;
