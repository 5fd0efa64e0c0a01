-- Inserts the nodes of an export as they were, without jobs.
--
-- A node with a taken key or a duplicate content is left out: its `ord` is missing in the result, and the caller looks
-- for the cause.
--
-- Of each node: :namespaces text[]   :robots text[] names, registered   :keys text[] or null   :contents text[]
-- :hashes bytea[] SHA-256 of the content   :revisions int[]   :authors text[] or null   :speakers text[] or null
-- :sessions text[] or null   :seqs int[] or null   :sources text[] or null   :types text[] or null   :importances real[]
-- :token_counts int[]   :languages text[]   :metadata jsonb[]   :created timestamptz[]   :remembered timestamptz[]
-- :updated timestamptz[]   :forgotten timestamptz[] or null   :reasons text[] or null   :expiries timestamptz[] or null
-- :ttls bigint[] or null, seconds   :scopes bigint[] where the content must be unique: 0 in its namespace, -1 among its
-- robot's, null: nowhere
--
-- Of all: :token_encoding text
--
-- Index: robots_namespace_name_key, nodes_namespace_key_key, nodes_duplicate_key
with item as materialized (
    -- The id is drawn first, in the order of the export: it ties what was inserted to it.
    select nextval('htm.nodes_id_seq') as id, s.*
      from (select r.id as robot_id, u.*
              from unnest(:namespaces::text[], :robots::text[], :keys::text[], :contents::text[], :hashes::bytea[],
                          :revisions::int[], :authors::text[], :speakers::text[], :sessions::text[], :seqs::int[],
                          :sources::text[], :types::text[], :importances::real[], :token_counts::int[],
                          :languages::text[], :metadata::jsonb[], :created::timestamptz[], :remembered::timestamptz[],
                          :updated::timestamptz[], :forgotten::timestamptz[], :reasons::text[],
                          :expiries::timestamptz[], :ttls::bigint[], :scopes::bigint[]) with ordinality
                as u(namespace, robot, key, content, content_hash, revision, author, speaker, session, seq,
                     source, type, importance, token_count, language, metadata, created_at, remembered_at,
                     updated_at, deleted_at, forget_reason, expires_at, ttl_seconds, duplicate_scope, ord)
              join htm.robots r on r.namespace = u.namespace and r.name = u.robot
             order by u.ord) s
), node as (
    insert into htm.nodes (id, namespace, robot_id, key, content, content_hash, revision, author, speaker, session, seq,
                           source, type, importance, token_count, token_encoding, language, metadata, created_at,
                           remembered_at, updated_at, deleted_at, forget_reason, expires_at, ttl_seconds,
                           duplicate_scope)
    overriding system value
    select id, namespace, robot_id, key, content, content_hash, revision, author, speaker, session, seq,
           source, type, importance, token_count, :token_encoding, language, metadata, created_at,
           remembered_at, updated_at, deleted_at, forget_reason, expires_at, ttl_seconds,
           case duplicate_scope when -1 then robot_id else duplicate_scope end
      from item
     -- As remember.sql: writers of the same keys and contents meet in the same order.
     order by namespace, key, case when key is null then content_hash end, ord
    on conflict do nothing -- by the key or by the content
    returning id
)
select i.ord, n.id from node n join item i on i.id = n.id
