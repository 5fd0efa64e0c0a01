-- The nodes from one to another, each of which supersedes the next; no row if there is no such chain. Forgotten nodes
-- count: they may be restored.
--
-- :from bigint the last of the chain   :to bigint the first
--
-- Index: relations_pk
with recursive step as (
    select :to::bigint as node, array[:to::bigint] as chain
    union all
    select r.to_node, s.chain || r.to_node
      from step s
      join htm.relations r on r.from_node = s.node and r.kind = 'supersedes'
     where s.node <> :from and r.to_node <> all (s.chain)
)
select chain from step where node = :from order by cardinality(chain) limit 1
