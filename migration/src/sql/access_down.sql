-- What access_up.sql made.
drop table htm.node_accesses;
drop index htm.nodes_metadata_idx, htm.nodes_robot_idx;
