-- Citus: the memories are distributed by namespace. Run it on the coordinator, once, after `htm db migrate` and before the
-- first memory. It was not run with Citus: docs/partitions.md says what was checked.

-- What is global, or joined to a memory, whatever its namespace: a copy on each node of Citus. These tables are small, and
-- change rarely. Jobs and the rest stay on the coordinator.
select create_reference_table(name)
  from unnest(array['htm.embedding_models', 'htm.providers', 'htm.robots', 'htm.merged_robots', 'htm.robot_groups',
                    'htm.group_members', 'htm.tags', 'htm.tag_synonyms', 'htm.tag_changes', 'htm.tag_change_names',
                    'htm.budgets', 'htm.quotas', 'htm.retention', 'htm.learning', 'htm.rankings', 'htm.ranking_choices',
                    'htm.api_keys']) with ordinality t(name, place)
 order by place;

-- What belongs to a namespace is on one node of Citus, with all that is joined to it.
select create_distributed_table('htm.nodes', 'namespace');
select create_distributed_table(name, 'namespace', colocate_with => 'htm.nodes')
  from unnest(array['htm.documents', 'htm.node_revisions', 'htm.node_absences', 'htm.relations', 'htm.repeats', 'htm.node_accesses', 'htm.node_tags', 'htm.completions',
                    'htm.working_memory', 'htm.group_memory', 'htm.tag_change_nodes', 'htm.namespace_statistics', 'htm.recalls',
                    'htm.recall_candidates', 'htm.feedback',
                    'htm.lexeme_statistics']) with ordinality t(name, place)
 order by place;
-- The tables of the models. Each model that is registered later needs its line.
select create_distributed_table(format('htm.embeddings_%s', id), 'namespace', colocate_with => 'htm.nodes')
  from htm.embedding_models order by id;
