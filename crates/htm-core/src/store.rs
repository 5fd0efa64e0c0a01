//! All queries of HTM: plain rows through sea-orm, the rest as SQL files named by what they do.

pub mod audit;
pub mod backfill;
pub mod embeddings;
pub(crate) mod entity;
pub mod gauges;
pub mod governor;
pub(crate) mod group_memory;
pub(crate) mod groups;
pub mod job_control;
pub mod job_list;
pub mod jobs;
pub mod lifecycle;
pub mod nodes;
pub mod providers;
pub mod queues;
pub(crate) mod recall;
pub(crate) mod robots;
pub mod server;
pub mod statistics;
pub(crate) mod stats;
pub mod status;
pub mod tags;
pub mod workers;
pub(crate) mod working_memory;
