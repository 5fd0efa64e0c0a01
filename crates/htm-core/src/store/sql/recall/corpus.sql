-- The sizes of the searched namespaces, and the languages of their nodes beside the handle's. A namespace without
-- statistics is counted up to 2,000 nodes. Lengths are in distinct lexemes: a tsvector has that number without being
-- unpacked.
--
-- :namespaces text[]   :language text
--
-- Index: namespace_statistics_pk; nodes_language_idx; nodes_namespace_created_at_idx (a namespace without statistics)
with recursive step as (
    -- A step in the index for each language.
    select s.namespace, (select min(m.language) from htm.nodes m where m.namespace = s.namespace) as language
      from unnest(:namespaces::text[]) s(namespace)
    union all
    select s.namespace, (select min(m.language) from htm.nodes m
                          where m.namespace = s.namespace and m.language > s.language)
      from step s
     where s.language is not null
),
counted as (
    select c.node_count as nodes, c.unseen_count as unseen, c.average_lexemes::float8, true as is_counted, c.namespace, c.refreshed_at
      from htm.namespace_statistics c
     where c.namespace = any (:namespaces) and c.refreshed_at is not null
    union all
    select sample.nodes, 0, sample.average_lexemes, false, s.namespace, null
      from unnest(:namespaces::text[]) s(namespace)
     cross join lateral (
           select count(*) as nodes, greatest(coalesce(avg(length(tsv)), 1), 1)::float8 as average_lexemes
             from (select m.tsv from htm.nodes m
                    where m.namespace = s.namespace and m.deleted_at is null limit 2000) m) sample
     where not exists (select from htm.namespace_statistics c
                        where c.namespace = s.namespace and c.refreshed_at is not null)
)
select coalesce(sum(nodes), 0)::float8 as nodes, coalesce(sum(nodes + unseen), 0)::float8 as by_now,
       coalesce(sum(nodes * average_lexemes) / nullif(sum(nodes), 0), 1)::float8 as average_lexemes,
       coalesce(bool_and(is_counted), false) as is_counted, case when bool_and(is_counted) then array_agg(refreshed_at order by namespace) end as counted_at,
       array(select :language::text
              union
             select language from (select distinct language from step where language is not null limit 8) present) as languages,
       -- A partitioned table has a number beside those of its partitions.
       (select sum(greatest(reltuples, 0))::float8 from pg_class
         where relkind = 'r'
           and (oid = 'htm.nodes'::regclass or oid in (select inhrelid from pg_inherits where inhparent = 'htm.nodes'::regclass))) as all_nodes,
       exists (select from pg_inherits where inhparent = 'htm.nodes'::regclass) as is_partitioned,
       exists (select from pg_am where amname = 'bm25') as knows_bm25
  from counted
