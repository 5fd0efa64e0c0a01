-- How many nodes in scope recall by vectors cannot see yet; counted to 10,001 at most.
-- Looks at the jobs that are not done, not at the nodes: those are few when the workers keep up.
--
-- $1 text[] namespaces   $2 timestamptz from or null   $3 timestamptz until or null
-- $4 text the model's queue   $5 text its label, or null: what is embedded again can be seen all the while
-- $6 timestamptz[] where each of several ranges starts, or null: there is one, from $2 until $3   $7 where each ends
--
-- Index: jobs_htm_open_idx, completions_pk
select count(*)
  from (select from apalis.jobs j
          join htm.nodes n on n.id = (j.metadata -> 'node')::bigint and n.revision = (j.metadata -> 'revision')::int
         where j.job_type like 'htm.%' and j.job_type = $4 and j.status <> 'Done'
           and j.metadata -> 'namespace' = any ($1)
           and n.deleted_at is null
           and ($2::timestamptz is null or n.created_at >= $2)
           and ($3::timestamptz is null or n.created_at < $3)
           and ($6::timestamptz[] is null
                or exists (select from unnest($6, $7::timestamptz[]) r(since, until)
                            where n.created_at <@ tstzrange(r.since, r.until)))
           and not exists (select from htm.completions c
                            where c.node_id = n.id and c.revision = n.revision and c.stage = 'embed' and c.model = $5)
         limit 10001) open
