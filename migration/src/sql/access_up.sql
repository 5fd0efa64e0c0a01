-- Metadata and robots as filters, and how often a memory was recalled. Programs of schema version 5 that still run work on beside it.

-- ── metadata ────────────────────────────────────────────────────────────────────────────────────────────
-- Answers `metadata @> '{"project": "apollo"}'`. What has none stays out: most writes do not touch it.
create index nodes_metadata_idx on htm.nodes using gin (metadata jsonb_path_ops)
    where deleted_at is null and metadata <> '{}';

-- ── robots ──────────────────────────────────────────────────────────────────────────────────────────────
-- What one robot of many remembered is found without walking through what the others did.
create index nodes_robot_idx on htm.nodes (robot_id) where deleted_at is null;

-- ── accesses ────────────────────────────────────────────────────────────────────────────────────────────
-- Beside the nodes, and without an index on what changes: a count is a HOT update, and no index of a node is touched.
create table htm.node_accesses (
    node_id       bigint not null constraint node_accesses_pk primary key
                  constraint node_accesses_node_fk references htm.nodes on delete cascade,
    access_count  bigint not null constraint node_accesses_count_positive check (access_count > 0),
    last_accessed timestamptz not null
) with (fillfactor = 70);
comment on table htm.node_accesses is 'How often a node was among the hits of a recall, and when last. Written behind the recalls, in batches.';

-- ── languages ───────────────────────────────────────────────────────────────────────────────────────────
-- Which languages a namespace has: recall reads its query in each of them. A handful of values: a step in the index each.
create index nodes_language_idx on htm.nodes (namespace, language);
