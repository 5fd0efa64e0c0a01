//! All queries of HTM: plain rows through sea-orm, the rest as SQL files named by what they do.

pub mod audit;
pub mod backfill;
pub(crate) mod edit;
pub mod embeddings;
pub(crate) mod entity;
pub(crate) mod forget;
pub mod gauges;
pub mod governor;
pub mod job_control;
pub mod job_list;
pub mod jobs;
pub mod lifecycle;
pub mod nodes;
pub mod providers;
pub(crate) mod purge;
pub mod queues;
pub(crate) mod recall;
pub mod server;
pub mod statistics;
pub mod status;
pub mod tags;
pub(crate) mod timeline;
pub mod workers;
pub(crate) mod working_memory;
