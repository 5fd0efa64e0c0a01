-- A next version of the schema, made up for the test: what a migration may do beside programs of this version.
-- Columns with constant defaults or none, tables and indexes of their own, a payload that this version does not read.
alter table htm.nodes add column valid_until timestamptz, add column trust real not null default 1;
create index nodes_valid_until_idx on htm.nodes (valid_until) where valid_until is not null;
create table htm.node_sources (
    namespace text collate "C" not null,
    node_id   bigint not null,
    document  text not null,
    constraint node_sources_pk primary key (node_id, namespace),
    constraint node_sources_node_fk foreign key (node_id, namespace) references htm.nodes (id, namespace) on delete cascade
);
insert into htm.seaql_migrations (version, applied_at) values ('m29991231_000001_next', 0);
