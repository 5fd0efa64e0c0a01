//! Learning: what a ranking is learnt from, and the end of a job that learns.

use sqlx::PgPool;

use super::jobs::Lease;
use super::named::sql;
use crate::model::error::Result;

/// The judged recalls of a namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// The namespace.
    pub namespace: String,
    /// The recalls.
    pub recalls: Vec<i64>,
}

/// Reads the judged recalls of a namespace.
///
/// # Errors
/// A database error.
pub async fn evidence(pool: &PgPool, namespace: &str) -> Result<Evidence> {
    let recalls = sql!("select id from htm.nodes where namespace = :namespace limit 0")
        .bind("namespace", namespace)?
        .fetch_scalars(pool)
        .await?;
    Ok(Evidence { namespace: namespace.into(), recalls })
}

/// Writes what was learnt and ends the job, in one transaction. False if the worker does not hold the job any more: then
/// nothing is written.
///
/// # Errors
/// A database error; then nothing is written and the job is still held.
pub async fn ack(
    pool: &PgPool,
    lease: &Lease,
    job: &str,
    namespace: &str,
    learnt: &serde_json::Value,
) -> Result<bool> {
    let mut tx = pool.begin().await?;
    let held = sql!(include_str!("sql/ack_learn.sql"))
        .bind("worker", &lease.worker)?
        .bind("claimed_at", lease.claimed_at)?
        .bind("job", job)?
        .execute(&mut *tx)
        .await?;
    if held == 1 {
        tracing::debug!(namespace, %learnt, "learnt");
    }
    tx.commit().await?;
    Ok(held == 1)
}
