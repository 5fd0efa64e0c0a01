//! All queries of HTM: plain rows through sea-orm, the rest as SQL files named by what they do.

pub mod backfill;
pub mod embeddings;
pub(crate) mod entity;
pub mod jobs;
pub mod lifecycle;
pub mod nodes;
pub mod queues;
pub(crate) mod recall;
pub mod server;
pub mod statistics;
pub mod status;
pub mod tags;
pub mod workers;
