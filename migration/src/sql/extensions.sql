-- The schema of HTM. Apalis' own schema (`apalis`) is migrated before this one.
-- Every constraint has a name that tells its rule.
create extension if not exists vector with schema public;
create extension if not exists pg_trgm with schema public;

-- The schema version of the oldest program that this schema serves. A rolling upgrade migrates the database first.
-- Programs of the previous version go on, and may restart, until they are replaced.
create table htm.compatibility (
    only_row       boolean not null default true
                   constraint compatibility_pk primary key
                   constraint compatibility_one_row check (only_row),
    oldest_program integer not null
);
insert into htm.compatibility (oldest_program) values (1);
