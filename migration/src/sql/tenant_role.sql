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
