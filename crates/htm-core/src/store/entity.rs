//! The entities of the tables that sea-orm reads and writes, one file for each. A test compares each with the schema.

pub(crate) mod backfill;
pub(crate) mod budget;
pub(crate) mod embedding_model;
pub(crate) mod group;
pub(crate) mod group_member;
pub(crate) mod group_memory;
pub(crate) mod lexeme_statistic;
pub(crate) mod namespace_statistic;
pub(crate) mod node;
pub(crate) mod node_tag;
pub(crate) mod paused_queue;
pub(crate) mod provider;
pub(crate) mod quota;
pub(crate) mod ranking;
pub(crate) mod ranking_choice;
pub(crate) mod repeat;
pub(crate) mod retention;
pub(crate) mod robot;
pub(crate) mod sign_in;
pub(crate) mod tag;
pub(crate) mod tag_change;
pub(crate) mod tag_change_name;
pub(crate) mod tag_synonym;
