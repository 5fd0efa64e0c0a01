-- The nodes from one to another, each of which supersedes the next; no row if there is no such chain. Forgotten nodes
-- count: they may be restored.
--
-- :from bigint the last of the chain   :to bigint the first   :namespace text, theirs
--
-- Index: relations_pk
-- Each node is visited once: those that are reached, with one that leads to each. There may be many more chains than nodes.
with recursive reached as (
    select :to::bigint as node
     union
    select r.to_node
      from reached v
      join htm.relations r on r.from_node = v.node and r.kind = 'supersedes' and r.namespace = :namespace
),
-- Back from the last: of the nodes that lead to one, the first.
chain as (
    select :from::bigint as node, array[:from::bigint] as nodes
     where :from in (select node from reached)
     union all
    select before.node, before.node || c.nodes
      from chain c
     cross join lateral (
           select r.from_node as node from htm.relations r
            where r.to_node = c.node and r.kind = 'supersedes' and r.namespace = :namespace
              and r.from_node in (select node from reached)
            order by r.from_node limit 1) before
     where c.node <> :to and before.node <> all (c.nodes)
)
select nodes from chain where node = :to
