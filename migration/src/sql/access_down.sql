-- What access_up.sql made.
drop index htm.nodes_language_idx;
drop table htm.node_accesses;
drop index htm.nodes_metadata_idx, htm.nodes_robot_idx;
