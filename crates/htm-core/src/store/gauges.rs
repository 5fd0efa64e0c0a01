//! What stands in a queue, at a cost that does not grow with it: for metrics that are read every few seconds.

use sqlx::PgPool;

use super::named::sql;
use super::priorities;
use crate::model::error::Result;

/// Where each count stops: a fleet that has this much to do is scaled to its most anyway, and a reading takes 10 ms at
/// most.
pub const GAUGE_BOUND: i64 = 10_000;

/// How many jobs of a queue are in each state; each count stops at [`GAUGE_BOUND`] (`due` and `waiting` at that many
/// of each priority). `jobs::depth` counts to the end, which takes as long as the queue is.
#[derive(Clone, Copy, Debug, Default, PartialEq, sqlx::FromRow)]
pub struct QueueGauges {
    /// Could be claimed now, also when they were parked until now.
    pub due: i64,
    /// Waiting for their time.
    pub waiting: i64,
    /// Set aside until somebody looks.
    pub parked: i64,
    /// Held by a worker.
    pub running: i64,
    /// Dead letters.
    pub dead: i64,
    /// How long the longest due job has been due, in seconds by the database's clock; 0 when none is.
    pub oldest_due_age_seconds: f64,
}

/// The gauges of a queue, as `htm.embed`.
///
/// # Errors
/// A database error.
pub async fn gauges(pool: &PgPool, queue: &str) -> Result<QueueGauges> {
    sql!(include_str!("sql/gauges.sql"))
        .bind("queue", queue)?
        .bind("bound", GAUGE_BOUND)?
        .bind("priorities", priorities::ALL)?
        .fetch_one(pool)
        .await
}
