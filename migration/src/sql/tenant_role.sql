-- What each call of `up` sets, also without a migration: a restored backup has no rights and no policies.

-- The role of tenants' connections, and the policies that restrict it. The migrating role may set it. Without the
-- privilege to create roles nothing is done: an administrator creates `htm_tenant` and migrates again.
do $$
begin
    if not exists (select from pg_roles where rolname = 'htm_tenant') then
        create role htm_tenant nologin;
    end if;
    if current_setting('server_version_num')::int >= 160000 then
        execute 'grant htm_tenant to current_user with inherit false, set true';
    else
        grant htm_tenant to current_user;
    end if;
exception
    -- Another database of the server may be migrated at the same time. Roles belong to the server.
    when duplicate_object or unique_violation or insufficient_privilege then null;
end $$;
select htm.set_all_row_policies();

-- These functions are for the schema's owner, and three of them for the roles that `htm db migrate --application-role` names.
-- A function is open to everybody once it is restored. Those that are closed are left alone, because only their owner may close
-- them.
do $$
declare
    is_open regprocedure;
begin
    for is_open in
        select p.oid::regprocedure
          from pg_proc p
         where p.pronamespace = 'htm'::regnamespace
           and p.proname in (
               'register_embedding_model', 'make_embedding_store', 'revive_embedding_model', 'drop_embedding_store',
               'make_partitions', 'name_partial_indexes', 'lock_within_a_second', 'make_next', 'begin_layout',
               'copy_to_next', 'finish_layout', 'move_table', 'drop_previous_layout', 'abandon_layout', 'analyze_grown',
               'count_samples')
           and has_function_privilege('public', p.oid, 'execute')
    loop
        execute format('revoke execute on function %s from public', is_open);
    end loop;
end $$;
