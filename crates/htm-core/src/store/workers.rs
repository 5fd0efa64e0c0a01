//! Workers: who is alive. The rows are apalis' (`apalis.workers`).

use chrono::{DateTime, Utc};
use sqlx::PgPool;

use super::named::sql;
use crate::model::error::Result;

/// Registers a worker under an identity that no other ever had, and removes those that are long gone. Its jobs are
/// taken back when it has not been seen for `lease_ms`.
///
/// # Errors
/// A database error.
pub async fn register(pool: &PgPool, queue: &str, worker: &str, detail: &str, lease_ms: u64) -> Result<()> {
    sql!(
        "with worker as (
            insert into apalis.workers (id, worker_type, storage_name, layers, last_seen, started_at)
            values (:worker, :queue, 'htm', :detail, now(), now())
            on conflict (id) do update set last_seen = now()
            returning id)
         insert into htm.worker_leases (worker, lease_ms) select id, :lease_ms from worker
         on conflict (worker) do update set lease_ms = excluded.lease_ms"
    )
    .bind("worker", worker)?
    .bind("queue", queue)?
    .bind("detail", detail)?
    .bind("lease_ms", lease_ms as i64)?
    .execute(pool)
    .await?;
    prune(pool).await?;
    Ok(())
}

/// Removes workers that have not been seen for a day and hold nothing; returns how many.
///
/// # Errors
/// A database error.
pub async fn prune(pool: &PgPool) -> Result<usize> {
    let deleted = sql!(
        "delete from apalis.workers w
          where w.storage_name = 'htm' and w.last_seen < now() - interval '1 day'
            and not exists (select from apalis.jobs j where j.lock_by = w.id)"
    )
    .execute(pool)
    .await?;
    Ok(deleted as usize)
}

/// Says that the worker lives, which renews the lease of every job that it holds; false if its row is gone. `held_since`
/// is the instant of the first claim that it has in hand: what stands in its name from before is nobody's.
///
/// # Errors
/// A database error.
pub async fn heartbeat(pool: &PgPool, worker: &str, held_since: Option<DateTime<Utc>>) -> Result<bool> {
    sql!(
        "with seen as (update apalis.workers set last_seen = now() where id = :worker returning id),
              held as (update htm.worker_leases set held_since = :held_since
                        where worker = :worker and held_since is distinct from :held_since)
         select exists (select from seen)"
    )
    .bind("worker", worker)?
    .bind("held_since", held_since)?
    .fetch_scalar(pool)
    .await
}

/// A worker that holds jobs and has not been seen for its lease, by the database's clock.
#[derive(Clone, Debug, PartialEq, Eq, Hash, sqlx::FromRow)]
pub struct Unseen {
    /// Its identity.
    pub worker: String,
    /// Its last heartbeat.
    pub last_seen: DateTime<Utc>,
    /// Its lease, milliseconds.
    pub lease_ms: i64,
}

/// The workers that hold jobs and have not been seen for their lease. Whether they are lost, a second look says: after
/// an outage, or a jump of the database's clock, all of them are in this list until they renew. One that was last seen
/// in the future is in it too: the clock was set back, and would take long to say that the lease is over.
///
/// # Errors
/// A database error.
pub async fn unseen(pool: &PgPool) -> Result<Vec<Unseen>> {
    sql!(
        "select w.id as worker, w.last_seen, l.lease_ms
           from apalis.workers w join htm.worker_leases l on l.worker = w.id
          where w.last_seen not between now() - l.lease_ms * interval '1 millisecond' and now()
            and exists (select from apalis.jobs j
                         where j.lock_by = w.id and j.status = 'Running' and j.job_type like 'htm.%')"
    )
    .fetch_all(pool)
    .await
}

/// How many workers of a queue are alive.
///
/// # Errors
/// A database error.
pub async fn count_alive(pool: &PgPool, queue: &str) -> Result<usize> {
    let alive: i64 = sql!(
        "select count(*) from apalis.workers w join htm.worker_leases l on l.worker = w.id
          where w.worker_type = :queue and w.last_seen >= now() - l.lease_ms * interval '1 millisecond'"
    )
    .bind("queue", queue)?
    .fetch_scalar(pool)
    .await?;
    Ok(alive as usize)
}

/// Takes a worker that has stopped cleanly off the list.
///
/// # Errors
/// A database error, also when jobs still stand in its name.
pub async fn deregister(pool: &PgPool, worker: &str) -> Result<()> {
    // A call that was cut short has nobody to say how it ended.
    sql!(
        "with calls as (delete from htm.provider_calls where worker = :worker),
              waiting as (delete from htm.waiting_calls where worker = :worker)
         delete from apalis.workers where id = :worker"
    )
    .bind("worker", worker)?
    .execute(pool)
    .await?;
    Ok(())
}

/// A worker process of a queue.
#[derive(Clone, Debug, serde::Serialize, sqlx::FromRow)]
pub struct Worker {
    /// Its identity.
    pub id: String,
    /// The queue it serves.
    pub queue: String,
    /// Its program, version and model.
    pub detail: String,
    /// When it was registered.
    pub started_at: Option<DateTime<Utc>>,
    /// Its last heartbeat.
    pub last_seen: DateTime<Utc>,
    /// How long ago that was, milliseconds.
    pub unseen_ms: i64,
    /// Whether that was within the lease.
    pub alive: bool,
    /// How many jobs it holds.
    pub jobs: i64,
}

/// The workers, those alive first.
///
/// # Errors
/// A database error.
pub async fn list(pool: &PgPool) -> Result<Vec<Worker>> {
    sql!(
        "select w.id, w.worker_type as queue, w.layers as detail, w.started_at, w.last_seen,
                (extract(epoch from now() - w.last_seen) * 1000)::bigint as unseen_ms,
                w.last_seen >= now() - l.lease_ms * interval '1 millisecond' as alive,
                (select count(*) from apalis.jobs j where j.lock_by = w.id and j.status = 'Running') as jobs
           from apalis.workers w join htm.worker_leases l on l.worker = w.id
          order by alive desc, queue, w.id"
    )
    .fetch_all(pool)
    .await
}
