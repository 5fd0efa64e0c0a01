//! The gauges of a queue, at a cost that does not grow with it: for metrics that are read every few seconds.

use super::connections::Connections;
use super::named::sql;
use super::priorities;
use crate::model::error::Result;

/// The limit of each count. A fleet with this many jobs is scaled to its maximum anyway, and a reading takes 10 ms at
/// most.
pub const GAUGE_BOUND: i64 = 10_000;

/// The number of jobs of a queue in each state; each count stops at [`GAUGE_BOUND`] (`due` and `waiting` at that many
/// of each priority). `queues::depth` counts all jobs, which takes longer the longer the queue is.
#[derive(Clone, Copy, Debug, Default, PartialEq, sqlx::FromRow)]
pub struct QueueGauges {
    /// Jobs that can be claimed now, including parked jobs whose time has come.
    pub due: i64,
    /// Jobs that wait for their time.
    pub waiting: i64,
    /// Jobs that are parked until a later time or until an operator retries them.
    pub parked: i64,
    /// Jobs that are held by a worker.
    pub running: i64,
    /// Dead letters.
    pub dead: i64,
    /// The time for which the longest due job has been due, in seconds by the database's clock; 0 if none is due.
    pub oldest_due_age_seconds: f64,
}

/// The gauges of a queue, such as `htm.embed`.
///
/// # Errors
/// A database error.
pub async fn gauges(pool: &dyn Connections, queue: &str) -> Result<QueueGauges> {
    sql!(include_str!("sql/gauges.sql"))
        .bind("queue", queue)?
        .bind("bound", GAUGE_BOUND)?
        .bind("priorities", priorities::ALL)?
        .fetch_one(pool)
        .await
}
