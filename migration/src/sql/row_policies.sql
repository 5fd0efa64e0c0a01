-- Row-level security: the second wall between tenants. Connections of the role htm_tenant see and write the rows of
-- the namespaces in their setting `htm.namespaces`, and nothing without it. Other roles are not restricted.

-- The names in these two functions are resolved here, not by the search path of a caller.
create function htm.seen_namespaces() returns text[] language sql stable parallel safe
    return nullif(current_setting('htm.namespaces', true), '')::text[];

-- For `like`: `tenant-7/_%` of `tenant-7/*`.
create function htm.seen_patterns() returns text[] language sql stable parallel safe
begin atomic
    select coalesce(array_agg(replace(replace(replace(left(s.namespace, -1), '\', '\\'), '_', '\_'), '%', '\%') || '_%'), '{}')
      from unnest(htm.seen_namespaces()) s(namespace)
     where s.namespace like '_%/*';
end;

-- The condition that a row is seen, for a column with its namespace. The subselects are evaluated once a statement. The
-- planner takes `is not null` for true of nearly all rows, and so estimates by the statement's own conditions.
create function htm.row_is_seen(in_column text) returns text language sql immutable strict parallel safe as $$
    select format('nullif(%1$s = any ((select htm.seen_namespaces())::text[])
                          or %1$s like any ((select htm.seen_patterns())::text[]), false) is not null', in_column)
$$;

-- `@@`, `@>` and `->` are not leakproof, so a policy keeps them from their indexes. A statement that needs such an index
-- reads these views. A view reads as its owner, whom no policy restricts, so it has the condition itself.
do $$
begin
    execute format('create view htm.visible_nodes as select * from htm.nodes
                     where nullif((select current_user <> %L) or (%s), false) is not null',
                   'htm_tenant', htm.row_is_seen('namespace'));
    execute format('create view htm.visible_jobs as select * from apalis.jobs
                     where nullif((select current_user <> %L) or (%s), false) is not null
                      with check option',
                   'htm_tenant', htm.row_is_seen('metadata -> ''namespace'''));
end $$;

-- Sets a new table's policies. Does nothing without the role htm_tenant.
create function htm.set_row_policies(in_table text, in_condition text) returns void language plpgsql as $$
begin
    if not exists (select from pg_roles where rolname = 'htm_tenant') then return; end if;
    execute format('alter table %s enable row level security', in_table);
    execute format('create policy anyone on %s using (true) with check (true)', in_table);
    execute format('create policy tenants on %s as restrictive to htm_tenant using (%s) with check (%2$s)',
                   in_table, in_condition);
    execute format('grant select, insert, update, delete on %s to htm_tenant', in_table);
end $$;

-- Sets the policies of all tables, once. A table with a namespace has that of its namespace. Called after each
-- migration, so that it also serves a database whose administrator made the role later.
create function htm.set_all_row_policies() returns void language plpgsql as $$
declare
    tenants_table text;
begin
    if not exists (select from pg_roles where rolname = 'htm_tenant')
       or has_schema_privilege('htm_tenant', 'htm', 'usage') then
        return;
    end if;
    grant usage on schema htm, apalis to htm_tenant;
    grant usage on all sequences in schema htm to htm_tenant;
    for tenants_table in
        select c.oid::regclass::text
          from pg_class c
          join pg_attribute a on a.attrelid = c.oid and a.attname = 'namespace' and not a.attisdropped
         where c.relnamespace = 'htm'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
         order by 1
    loop
        perform htm.set_row_policies(tenants_table, htm.row_is_seen('namespace'));
    end loop;
    -- These belong to the namespace of what they refer to.
    perform htm.set_row_policies('htm.merged_robots',
        'exists (select from htm.robots r where r.id = robot_id) or exists (select from htm.robots r where r.id = into_id)');
    perform htm.set_row_policies('htm.group_members', 'exists (select from htm.robot_groups g where g.id = group_id)');
    perform htm.set_row_policies('htm.operations', 'seen_by = (select current_setting(''htm.namespaces'', true))');
    perform htm.set_row_policies('apalis.jobs', htm.row_is_seen('metadata -> ''namespace'''));
    -- Of the nodes, only to read: nothing is written through this view, and it has no check option.
    grant select on htm.visible_nodes to htm_tenant;
    grant select, insert, update, delete on htm.visible_jobs to htm_tenant;
    -- These concern no namespace.
    grant select on htm.embedding_models, htm.providers, htm.paused_queues, htm.held_queues, htm.compatibility,
        htm.statistics_watermark, htm.worker_leases, apalis.workers to htm_tenant;
end $$;
