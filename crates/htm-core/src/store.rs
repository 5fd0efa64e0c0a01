//! All queries of HTM. Plain rows are read and written by sea-orm, through the entities in [`entity`]. The rest is SQL
//! with named parameters ([`named`]): short statements are beside their function, others are in files named by their
//! purpose.

pub(crate) mod accesses;
pub(crate) mod audit;
pub(crate) mod backfill;
pub(crate) mod candidates;
pub mod claims;
mod columns;
pub(crate) mod edit;
pub mod embeddings;
pub(crate) mod entity;
mod error;
pub mod expiry;
pub(crate) mod export;
pub(crate) mod filter;
pub(crate) mod forget;
pub mod gauges;
pub mod governor;
pub(crate) mod group_memory;
pub(crate) mod groups;
pub(crate) mod import;
pub mod job_control;
pub mod job_list;
pub mod jobs;
pub mod lifecycle;
pub(crate) mod named;
pub(crate) mod namespaces;
pub mod nodes;
pub(crate) mod ontology;
pub mod operations;
mod orm;
pub mod priorities;
pub mod providers;
pub(crate) mod purge;
pub mod queues;
pub(crate) mod recall;
pub(crate) mod robots;
pub mod server;
pub mod statistics;
pub(crate) mod stats;
pub(crate) mod status;
pub(crate) mod tag_changes;
pub mod tags;
pub(crate) mod timeline;
pub mod workers;
pub(crate) mod working_memory;
