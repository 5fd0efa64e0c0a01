//! The interface of the database for worker processes: claims, leases, the governor, results and acks.
//!
//! Applications do not need it: their handle is [`Htm`](crate::Htm).

pub use crate::store::{
    claims, embeddings, expiry, gauges, governor, job_control, job_list, jobs, learning, lifecycle, nodes,
    operations, priorities, providers, queues, server, statistics, switches, tags, workers,
};
