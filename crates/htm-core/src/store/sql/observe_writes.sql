-- Notes the namespaces written to since the last run, by their new ids. Edits, forgets and restores are noted by their
-- own statements.
--
-- Returns the namespaces whose statistics are due: a twentieth of their nodes (20 at least) has changed, or any has and
-- the statistics are five minutes old.
-- Index: nodes_pk (range)
with mark as (
    select node_id from htm.statistics_watermark for update skip locked
), fresh as materialized (
    select n.namespace, count(*) as written, max(n.id) as newest
      from mark cross join lateral (select namespace, id from htm.nodes where id > mark.node_id) n
     group by n.namespace
), moved as (
    update htm.statistics_watermark w set node_id = (select max(newest) from fresh)
      from mark where exists (select from fresh)
), noted as (
    insert into htm.namespace_statistics as s (namespace, unseen_count)
    select namespace, written from fresh order by namespace -- as all who note several: they never wait for one another both
    on conflict (namespace) do update set unseen_count = s.unseen_count + excluded.unseen_count
    returning s.namespace, s.unseen_count, s.node_count
)
select namespace from noted where unseen_count >= greatest(20, node_count / 20)
union
select s.namespace from htm.namespace_statistics s, mark
 where s.unseen_count > 0
   and (s.refreshed_at is null or s.refreshed_at < now() - interval '5 minutes'
        or s.unseen_count >= greatest(20, s.node_count / 20))
