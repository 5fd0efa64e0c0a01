-- Deletes dead letters that nothing hangs on any more: their node was forgotten or edited, or has its result by
-- another job. One that says why a live node lacks its result stays, else the node would be stranded.
--
-- $1 bigint for how long they have been dead at least, ms   $2 bigint how many at most
--
-- Index: jobs_htm_dead_idx, nodes_pk, completions_pk, jobs_pkey
delete from apalis.jobs
 where id = any (array(select j.id from apalis.jobs j
                        where j.status = 'Killed' and j.job_type like 'htm.%'
                          and j.done_at <= now() - $1 * interval '1 millisecond'
                          and not exists (
                              select from htm.nodes n
                               where n.id = substring(j.metadata -> 'node' from '^\d{1,18}$')::bigint
                                 and n.revision = substring(j.metadata -> 'revision' from '^\d{1,9}$')::int
                                 and n.deleted_at is null
                                 and not exists (
                                     select from htm.completions c
                                      where c.node_id = n.id and c.revision = n.revision
                                        and case when j.job_type = 'htm.tag' then c.stage = 'tag'
                                                 else c.stage = 'embed'
                                                      and c.model = (select label from htm.embedding_models
                                                                      where queue = j.job_type) end))
                        order by j.done_at
                        limit $2
                          for update skip locked))
