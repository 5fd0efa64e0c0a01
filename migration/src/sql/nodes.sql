-- The namespace is in every table about nodes and in every unique key of theirs, so that they can be partitioned by it.
-- The node's id stands first in those keys: an id alone is looked up by the same index.

-- Chinese, Japanese and Thai write words without spaces, and the parser takes a sentence for a word. Here it is given each two
-- letters that stand together: `abc` becomes `a ab bc c`. Marks stay with their letter.
create function htm.segmented(content text) returns text language sql immutable strict parallel safe as $$
    select case when octet_length(content) = length(content) then content
                else regexp_replace(content,
                     '([\u3005\u3041-\u3096\u30A1-\u30FA\u30FC\u3400-\u4DBF\u4E00-\u9FFF\uF900-\uFAFF\uFF66-\uFF9F]'
                  || '|[\u0E01-\u0E30\u0E32\u0E33\u0E40-\u0E46][\u0E31\u0E34-\u0E3A\u0E47-\u0E4E]*)', '\1 \1', 'g') end
$$;

-- A text search configuration is stored by name: a column of type regconfig would block pg_upgrade. The cast
-- from text is only "stable", but a configuration that nobody alters gives the same vector for ever.
-- A lexeme of the first 160 characters has weight A: the subject of a text stands there. A query by ts_rank gives all
-- weights the same, or A counts tenfold.
-- A tsvector ends at 1 MB of distinct lexemes, which a text of under 1 MB can exceed when hardly a word of it
-- comes twice: then its first half is indexed, and so on, until it fits.
create function htm.text_vector(language text, content text) returns tsvector
    language plpgsql immutable strict parallel unsafe as $$
declare
    opening text[] := tsvector_to_array(to_tsvector(language::regconfig, htm.segmented(left(content, 160))));
    segmented text := htm.segmented(content);
begin
    if octet_length(segmented) <= 262144 then
        return setweight(to_tsvector(language::regconfig, segmented), 'A', opening);
    end if;
    begin
        return setweight(to_tsvector(language::regconfig, segmented), 'A', opening);
    exception when program_limit_exceeded then
        return htm.text_vector(language, left(content, length(content) / 2));
    end;
end $$;

create table htm.nodes (
    id              bigint generated always as identity,
    namespace       text collate "C" not null
                    constraint nodes_namespace_valid check (octet_length(namespace) between 1 and 128),
    robot_id        bigint not null constraint nodes_robot_fk references htm.robots,
    key             text collate "C"
                    constraint nodes_key_valid check (octet_length(key) between 1 and 512),
    content         text not null
                    constraint nodes_content_not_blank check (content ~ '\S')
                    constraint nodes_content_size check (octet_length(content) <= 1048576),
    content_hash    bytea not null constraint nodes_content_hash_sha256 check (octet_length(content_hash) = 32),
    revision        integer not null default 1 constraint nodes_revision_positive check (revision >= 1),
    author          text collate "C",
    speaker         text,
    session         text,
    seq             integer,
    source          text,
    type            text,
    importance      real not null default 1 constraint nodes_importance_range check (importance between 1 and 10),
    token_count     integer not null constraint nodes_token_count_positive check (token_count >= 0),
    token_encoding  text not null,
    language        text not null default 'english',
    metadata        jsonb not null default '{}'
                    constraint nodes_metadata_object check (jsonb_typeof(metadata) = 'object')
                    -- The library refuses more than 64 KiB of JSON; numbers are up to twelve times as large in jsonb.
                    constraint nodes_metadata_size check (pg_column_size(metadata) <= 1048576),
    duplicate_scope bigint,
    created_at      timestamptz not null default now(),
    remembered_at   timestamptz not null default now(),
    updated_at      timestamptz not null default now(),
    deleted_at      timestamptz,
    tsv             tsvector not null generated always as (htm.text_vector(language, content)) stored,
    constraint nodes_pk primary key (id, namespace),
    constraint nodes_texts_size check (
        octet_length(type) <= 128 and octet_length(language) <= 128 and octet_length(speaker) <= 512
        and octet_length(session) <= 512 and octet_length(source) <= 4096)
);
comment on table htm.nodes is 'The memories. Long-term: a row goes only when somebody asks for it.';
comment on column htm.nodes.created_at is 'When it happened.';
comment on column htm.nodes.remembered_at is 'When it was written first.';
comment on column htm.nodes.updated_at is 'When its text was written.';
comment on column htm.nodes.author is 'The robot that wrote the text, by name; null: the robot that remembered it.';
comment on column htm.nodes.duplicate_scope is
    'Within what its content may stand once: 0 its namespace, else the robot of this id; null: it may stand again.';
create unique index nodes_namespace_key_key on htm.nodes (namespace, key)
    where key is not null and deleted_at is null;
create unique index nodes_duplicate_key on htm.nodes (namespace, duplicate_scope, content_hash)
    where duplicate_scope is not null and deleted_at is null;
create index nodes_namespace_created_at_idx on htm.nodes (namespace, created_at);
create index nodes_tsv_idx on htm.nodes using gin (tsv);
-- The memories of one robot of many.
create index nodes_robot_idx on htm.nodes (robot_id) where deleted_at is null;
-- The languages of a namespace: recall reads its query in each of them. A handful of values: a step in the index each.
create index nodes_language_idx on htm.nodes (namespace, language);
-- Forgotten nodes, to be purged or restored.
create index nodes_deleted_at_idx on htm.nodes (deleted_at) where deleted_at is not null;
-- Answers `metadata @> '{"project": "apollo"}'`. Nodes without metadata stay out: most writes do not touch it.
create index nodes_metadata_idx on htm.nodes using gin (metadata jsonb_path_ops)
    where deleted_at is null and metadata <> '{}';
-- The timeline of a conversation. By hash: a session's name may be longer than an index entry.
create index nodes_session_idx on htm.nodes (namespace, md5(session), created_at) where session is not null;
-- The turns next to one, where the places are known.
create index nodes_session_seq_idx on htm.nodes (namespace, md5(session), seq, created_at, id)
    where session is not null and deleted_at is null;

-- A row a text that an edit replaced; erased with the node.
create table htm.node_revisions (
    namespace  text collate "C" not null,
    node_id    bigint not null,
    revision   integer not null,
    content    text not null,
    author     text collate "C" not null,
    written_at timestamptz not null,
    constraint node_revisions_pk primary key (node_id, revision, namespace),
    constraint node_revisions_node_fk foreign key (node_id, namespace) references htm.nodes (id, namespace) on delete cascade
);
comment on table htm.node_revisions is 'The former texts of nodes, who wrote each, and when.';

-- A row only for what was said again: the first time is the node itself.
create table htm.repeats (
    namespace text collate "C" not null,
    node_id   bigint not null,
    robot_id  bigint not null constraint repeats_robot_fk references htm.robots,
    count     bigint not null default 1 constraint repeats_count_positive check (count >= 1),
    first_at  timestamptz not null default now(),
    last_at   timestamptz not null default now(),
    constraint repeats_pk primary key (node_id, robot_id, namespace),
    constraint repeats_node_fk foreign key (node_id, namespace) references htm.nodes (id, namespace) on delete cascade
);
comment on table htm.repeats is 'How often a robot said again what was remembered already.';

-- Beside the nodes, and without an index on what changes: a count is a HOT update, and no index of a node is touched.
create table htm.node_accesses (
    namespace     text collate "C" not null,
    node_id       bigint not null,
    access_count  bigint not null constraint node_accesses_count_positive check (access_count > 0),
    last_accessed timestamptz not null,
    constraint node_accesses_pk primary key (node_id, namespace),
    constraint node_accesses_node_fk foreign key (node_id, namespace) references htm.nodes (id, namespace) on delete cascade
) with (fillfactor = 70);
comment on table htm.node_accesses is
    'How often a node was among the hits of a recall, and when last. Written behind the recalls, in batches.';
