-- The privileges of applications and workers. {{role}} is the role's name, quoted by the server.
grant usage on schema htm, apalis to {{role}};
grant select, insert, update, delete on all tables in schema htm, apalis to {{role}};
grant usage, select on all sequences in schema htm, apalis to {{role}};
-- The tables of embedding models are created later, by the migrating role.
alter default privileges in schema htm grant select, insert, update, delete on tables to {{role}};
-- Only a migration changes the schema's version and the oldest program that it serves.
revoke insert, update, delete on htm.seaql_migrations, htm.compatibility from {{role}};
grant execute on function htm.register_embedding_model(text, text, integer) to {{role}};
