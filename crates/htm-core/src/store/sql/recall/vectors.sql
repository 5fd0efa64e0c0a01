-- The vector leg: the nearest of the nodes in scope. An exact search adds 0 to the distance, so no index fits and each
-- vector in scope is compared. Otherwise the index is walked by distance until enough are in scope and visible.
-- `offset 0` keeps the planner from merging the subqueries: the order of distance stays, and each node is looked up by id
-- in that order.
--
-- :vector halfvec   :pool int candidates   order   scope on the vector e   conditions on the node m
--
-- Index: embeddings_<id>_scope_idx, or that of the model's kind, as embeddings_<id>_hnsw_idx; nodes_pk
select near.id, 1 - near.distance as similarity
  from (select e.node_id as id, e.embedding <=> :vector as distance, e.namespace, e.created_at
          from {{store}} e
         where {{scope}}
         order by {{order}}
        offset 0) near
 where {{scope_after}}
   and exists (select from htm.nodes m where m.id = near.id and m.namespace = near.namespace{{of_m}} and {{conditions}} offset 0)
 limit :pool
