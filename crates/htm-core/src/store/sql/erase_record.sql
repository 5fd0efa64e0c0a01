-- Records the nodes of an erasure, 1,000 a row in the order of their ids, after those that it has. Returns their number,
-- and the digest of erase_digest.sql.
-- {{selected}} is the condition on the node `n`.
--
-- :erasure bigint
--
-- Index: nodes_pk, nodes_namespace_created_at_idx, erased_nodes_pk
with selected as materialized (
    select n.id, n.namespace, n.revision from htm.nodes n where {{selected}}
), kept as (
    insert into htm.erased_nodes (erasure_id, chunk, nodes)
    select :erasure, coalesce((select max(chunk) from htm.erased_nodes where erasure_id = :erasure), 0) + 1 + c.chunk,
           array_agg(c.id order by c.id)
      from (select id, (row_number() over (order by id) - 1) / 1000 as chunk from selected) c
     group by c.chunk
), noted as (
    update htm.erasures e
       set memories = e.memories + (select count(*) from selected),
           namespaces = array(select unnest(e.namespaces) union select namespace from selected order by 1)
     where e.id = :erasure
)
select count(*), left(md5(coalesce(string_agg(id || '.' || revision, ' ' order by id), '')), 16) from selected
