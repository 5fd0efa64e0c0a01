//! Workers: registration and heartbeats. The rows are apalis' (`apalis.workers`).

use chrono::{DateTime, Utc};

use super::connections::{Connections, Db};
use super::named::sql;
use crate::model::error::Result;

/// Registers a worker under an identity that no other ever had, and removes workers that are long gone. Its jobs are
/// taken back if it is not seen for `lease_ms`.
///
/// # Errors
/// A database error.
pub async fn register(
    pool: &dyn Connections,
    queue: &str,
    worker: &str,
    detail: &str,
    lease_ms: u64,
) -> Result<()> {
    let mut connection = pool.acquire().await?;
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
    .execute(&mut *connection)
    .await?;
    prune(&mut *connection).await?;
    Ok(())
}

/// Removes workers that have not been seen for a day and hold no jobs; returns their number.
///
/// # Errors
/// A database error.
pub(crate) async fn prune(db: impl Into<Db<'_>>) -> Result<usize> {
    let deleted = sql!(
        "delete from apalis.workers w
          where w.storage_name = 'htm' and w.last_seen < now() - interval '1 day'
            and not exists (select from apalis.jobs j where j.lock_by = w.id)"
    )
    .execute(db)
    .await?;
    Ok(deleted as usize)
}

/// Records a heartbeat, which renews the lease of every job that the worker holds; false if its row is gone.
/// `held_since` is the instant of its oldest claim in hand: earlier jobs that are assigned to it are held by nobody.
///
/// # Errors
/// A database error.
pub async fn heartbeat(
    pool: &dyn Connections,
    worker: &str,
    held_since: Option<DateTime<Utc>>,
) -> Result<bool> {
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

/// The workers that hold jobs and have not been seen for their lease. A second check decides whether they are lost:
/// after an outage, or a jump of the database's clock, all of them are in this list until their next heartbeat. A
/// worker that was last seen in the future is in it too: the clock was set back, and the lease would take long to
/// expire.
///
/// # Errors
/// A database error.
pub async fn unseen(pool: &dyn Connections) -> Result<Vec<Unseen>> {
    sql!(
        "select w.id as worker, w.last_seen, l.lease_ms
           from apalis.workers w join htm.worker_leases l on l.worker = w.id
          cross join lateral (select from apalis.jobs j
                               where j.lock_by = w.id and j.status = 'Running' and j.job_type || '' like 'htm.%' limit 1) held
          where w.last_seen not between now() - l.lease_ms * interval '1 millisecond' and now()"
    )
    .fetch_all(pool)
    .await
}

/// The number of live workers of a queue.
///
/// # Errors
/// A database error.
pub async fn count_alive(pool: &dyn Connections, queue: &str) -> Result<usize> {
    let alive: i64 = sql!(
        "select count(*) from apalis.workers w join htm.worker_leases l on l.worker = w.id
          where w.worker_type = :queue and w.last_seen >= now() - l.lease_ms * interval '1 millisecond'"
    )
    .bind("queue", queue)?
    .fetch_scalar(pool)
    .await?;
    Ok(alive as usize)
}

/// Removes a worker that has stopped cleanly, unless jobs are still assigned to it. Returns whether it is removed.
///
/// # Errors
/// A database error.
pub async fn deregister(pool: &dyn Connections, worker: &str) -> Result<bool> {
    // Nobody else reports the end of a call that was cut short.
    let removed = sql!(
        "with calls as (delete from htm.provider_calls where worker = :worker),
              waiting as (delete from htm.waiting_calls where worker = :worker)
         delete from apalis.workers where id = :worker"
    )
    .bind("worker", worker)?
    .execute(pool)
    .await;
    match removed {
        Err(error) if error.violates("fk_worker_lock_by") => Ok(false),
        removed => removed.map(|_| true),
    }
}

/// A worker process of a queue.
#[derive(Clone, Debug, serde::Serialize, sqlx::FromRow)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Worker {
    /// Its identity.
    pub id: String,
    /// The queue it serves.
    pub queue: String,
    /// Its program, version and model.
    pub detail: String,
    /// The time of its registration.
    pub started_at: Option<DateTime<Utc>>,
    /// Its last heartbeat.
    pub last_seen: DateTime<Utc>,
    /// The time since then, in milliseconds.
    pub unseen_ms: i64,
    /// Whether that is within its lease.
    pub alive: bool,
    /// The number of jobs that it holds.
    pub jobs: i64,
}

/// The workers, those alive first.
///
/// # Errors
/// A database error.
pub async fn list(pool: &dyn Connections) -> Result<Vec<Worker>> {
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
