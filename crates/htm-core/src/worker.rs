//! The database as a worker process uses it: claims, leases, the governor, results and acks.
//!
//! Applications have no use for it: [`Htm`](crate::Htm) is their handle.

pub use crate::store::{
    claims, embeddings, gauges, governor, job_control, job_list, jobs, lifecycle, nodes, priorities,
    providers, queues, server, statistics, tags, workers,
};
