//! Queues: how deep they are, and whether anything is lost.

use sqlx::PgPool;

use crate::error::Result;

/// How many jobs of a queue are in each state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct QueueDepth {
    /// Due or waiting for their time.
    pub pending: i64,
    /// Held by a worker.
    pub running: i64,
    /// Done, and not pruned yet.
    pub done: i64,
    /// Dead letters.
    pub dead: i64,
}

impl QueueDepth {
    /// What a worker still has to do.
    pub fn open(self) -> i64 {
        self.pending + self.running
    }
}

/// The depth of a queue.
///
/// # Errors
/// A database error.
pub async fn depth(pool: &PgPool, queue: &str) -> Result<QueueDepth> {
    let (pending, running, done, dead) = sqlx::query_as(
        "select count(*) filter (where status = 'Pending'), count(*) filter (where status = 'Running'),
                count(*) filter (where status = 'Done'), count(*) filter (where status in ('Killed', 'Failed'))
           from apalis.jobs where job_type = $1",
    )
    .bind(queue)
    .fetch_one(pool)
    .await?;
    Ok(QueueDepth { pending, running, done, dead })
}

/// Whether nothing of a queue is left to do, without counting: no job waits but parked ones, none is held.
///
/// # Errors
/// A database error.
pub async fn is_drained(pool: &PgPool, queue: &str) -> Result<bool> {
    let open: bool = sqlx::query_scalar(
        "select exists (select from apalis.jobs
                         where job_type = $1 and status = 'Pending' and not metadata ? 'parked')
             or exists (select from apalis.jobs where job_type = $1 and status = 'Running' and lock_by is not null)",
    )
    .bind(queue)
    .fetch_one(pool)
    .await?;
    Ok(!open)
}

/// How many live nodes have neither artefact nor live job nor dead letter: 0, or the pipeline has lost something.
///
/// # Errors
/// A database error.
pub async fn count_stranded(pool: &PgPool) -> Result<i64> {
    Ok(sqlx::query_scalar("select count(*) from htm.stranded").fetch_one(pool).await?)
}
