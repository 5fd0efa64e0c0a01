-- What tiers_up.sql made.
drop table htm.group_memory, htm.group_members, htm.robot_groups, htm.working_memory, htm.repeats;
drop index htm.nodes_duplicate_key, htm.nodes_deleted_at_idx, htm.nodes_session_idx;
alter table htm.nodes drop column remembered_at, drop column duplicate_scope;
alter table htm.robots drop column last_active;
