-- The privileges of applications and workers. {{role}} is the role's name, quoted by the server.
grant usage on schema htm, apalis to {{role}};
grant select, insert, update, delete on all tables in schema htm, apalis to {{role}};
grant usage, select on all sequences in schema htm, apalis to {{role}};
-- The tables of embedding models are created later, by the migrating role.
alter default privileges in schema htm grant select, insert, update, delete on tables to {{role}};
-- Only a migration changes the schema's version and the oldest program that it serves.
revoke insert, update, delete on htm.seaql_migrations, htm.compatibility from {{role}};
grant execute on function htm.register_embedding_model(text, text, integer), htm.analyze_grown(),
    htm.count_samples(bigint, text[]) to {{role}};
-- A server in this role needs the tenants' role for the handles that see some namespaces only. Without `inherit` their
-- policies do not restrict it. PostgreSQL 15 has no such grant.
do $do$
begin
    if current_setting('server_version_num')::int >= 160000
       and exists (select from pg_roles where rolname = 'htm_tenant') then
        execute $grant$grant htm_tenant to {{role}} with inherit false, set true$grant$;
    end if;
exception when insufficient_privilege then
    raise warning 'the role htm_tenant could not be granted: %; an administrator runs, before the same command again: grant htm_tenant to % with admin option',
        sqlerrm, quote_ident(current_user);
end $do$;
