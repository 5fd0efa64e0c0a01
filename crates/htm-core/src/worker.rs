//! The interface of the database for worker processes: claims, leases, the governor, results and acks.
//!
//! Applications do not need it: their handle is [`Htm`](crate::Htm).

pub use crate::model::outage::Outage;
pub use crate::store::{
    claims, embeddings, expiry, gauges, governor, jobs, learning, nodes, operations, priorities, queues,
    statistics, switches, tags, workers,
};
