-- As remember.sql, for one memory: a row needs no arrays, no order and no numbering, and its plan is made once.
--
-- Nothing is written, and no row comes back, when the key is taken, when the content stands already where it may stand
-- once, or when the robot is not registered.
--
-- $1  text        namespace             $2  text robot name          $3  text  key or null
-- $4  text        content               $5  bytea its SHA-256        $6  text  speaker or null
-- $7  text        session or null       $8  int  seq or null         $9  text  source or null
-- $10 text        type or null          $11 real importance          $12 int   token count
-- $13 text        token encoding        $14 text language            $15 jsonb metadata
-- $16 timestamptz time or null = now    $17 text job id, embed       $18 text  job id, tag
-- $19 text        embedding model, as long as none is registered
-- $20 text        tag model             $21 int  max attempts        $22 int   priority of the jobs
-- $23 bigint      where the content may stand once: 0 in its namespace, -1 among its robot's, null: everywhere again
-- $24 bigint      the robot that the name means, or null: a robot that is called otherwise by now writes nothing
--
-- Index: robots_namespace_name_key, nodes_namespace_key_key, nodes_duplicate_key
with node as (
    insert into htm.nodes (namespace, robot_id, key, content, content_hash, speaker, session, seq, source, type,
                           importance, token_count, token_encoding, language, metadata, created_at, duplicate_scope)
    select r.namespace, r.id, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, coalesce($16, now()),
           case $23 when -1 then r.id else $23 end
      from htm.robots r
     where r.namespace = $1 and r.name = $2 and ($24::bigint is null or r.id = $24)
    on conflict do nothing -- by the key or by the content
    returning id, namespace, revision
), target as (
    -- Every model that is in use gets every node; the first one takes the id that the caller drew.
    select queue, label as model,
           case id when (select min(id) from htm.embedding_models where state <> 'retired') then $17
                   else apalis.generate_ulid() end as job
      from htm.embedding_models
     where state <> 'retired'
    union all
    select 'htm.embed', $19, $17 where not exists (select from htm.embedding_models where state <> 'retired')
    union all
    select 'htm.tag', $20, $18
), job as (
    insert into apalis.jobs (id, job_type, job, status, attempts, max_attempts, run_at, priority,
                             metadata, idempotency_key)
    select t.job, t.queue,
           convert_to(json_build_object('v', 1, 'node', n.id, 'revision', n.revision)::text, 'UTF8'),
           'Pending', 0, $21, now(), $22,
           hstore(array['namespace', n.namespace, 'node', n.id::text, 'revision', n.revision::text]),
           concat_ws('/', n.id, n.revision, 0, t.model)
      from node n
     cross join target t
    on conflict (job_type, idempotency_key) do nothing
)
select id from node
