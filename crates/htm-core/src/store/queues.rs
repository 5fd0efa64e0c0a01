//! Queues: their depth, pauses, pruning, and the count of stranded nodes.

use std::time::Duration;

use chrono::{DateTime, Utc};
use sea_orm::ActiveValue::Set;
use sea_orm::EntityTrait;
use sea_orm::sea_query::OnConflict;

use super::connections::Connections;
use super::entity::paused_queue;
use super::named::sql;
use super::orm::on;
use super::{jobs, priorities};
use crate::model::error::Result;
use crate::model::jobs::queue_unknown;

/// The longest age, a thousand years: PostgreSQL's times have a lower bound.
const LONGEST_AGE: Duration = Duration::from_secs(1_000 * 365 * 86_400);

/// The number of jobs of a queue in each state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, sqlx::FromRow)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct QueueDepth {
    /// Jobs that are due or wait for their time.
    pub pending: i64,
    /// Jobs that are held by a worker.
    pub running: i64,
    /// Jobs that are done, and not pruned yet.
    pub done: i64,
    /// Dead letters.
    pub dead: i64,
}

impl QueueDepth {
    /// The jobs that are not ended.
    pub fn open(self) -> i64 {
        self.pending + self.running
    }
}

/// The depth of a queue.
///
/// # Errors
/// A database error.
pub async fn depth(pool: &dyn Connections, queue: &str) -> Result<QueueDepth> {
    sql!(
        "select count(*) filter (where status = 'Pending') as pending,
                count(*) filter (where status = 'Running') as running,
                count(*) filter (where status = 'Done') as done,
                count(*) filter (where status in ('Killed', 'Failed')) as dead
           from apalis.jobs where job_type = :queue"
    )
    .bind("queue", queue)?
    .fetch_one(pool)
    .await
}

/// Whether nothing is left to do in a queue, without counting: no job is held, and none is pending, except parked jobs
/// and those of a paused queue.
///
/// # Errors
/// A database error.
pub async fn is_drained(pool: &dyn Connections, queue: &str) -> Result<bool> {
    let open: bool = sql!(
        "select exists (select from apalis.jobs
                         where job_type = :queue and status = 'Pending' and not metadata ? 'parked'
                           and not exists (select from htm.paused_queues where queue = :queue))
             or exists (select from apalis.jobs where job_type = :queue and status = 'Running' and lock_by is not null)"
    )
    .bind("queue", queue)?
    .fetch_scalar(pool)
    .await?;
    Ok(!open)
}

/// The number of stages of live nodes without a result, a job or a dead letter. More than 0 means that the pipeline has
/// lost something. Reads every live node.
///
/// # Errors
/// A database error.
pub async fn count_stranded(pool: &dyn Connections) -> Result<i64> {
    // All live nodes are read, which may take longer than the application's statement timeout.
    let mut tx = pool.begin_with("begin read only; set local statement_timeout = 0").await?;
    let stranded = sql!("select count(*) from htm.stranded").fetch_scalar(&mut tx).await?;
    tx.rollback().await?;
    Ok(stranded)
}

/// A queue as an operator sees it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, sqlx::FromRow)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct QueueStats {
    /// Its name.
    pub queue: String,
    /// The label of the model that its jobs are for; none before one is registered, and for learning.
    pub model: Option<String>,
    /// The reason of its pause; none if it is not paused.
    pub paused: Option<String>,
    /// The time of its pause.
    pub paused_at: Option<DateTime<Utc>>,
    /// The reason why nothing is claimed at the moment although it is not paused: the database refuses the results, or
    /// calls to the model's provider are held.
    pub held: Option<String>,
    /// The end of that hold.
    pub held_until: Option<DateTime<Utc>>,
    /// The database's error, if it refuses the results at the moment.
    pub refused: Option<String>,
    /// Jobs that can be claimed.
    pub due: i64,
    /// Jobs that wait for their next attempt.
    pub waiting: i64,
    /// Jobs that wait for a budget or for an operator.
    pub parked: i64,
    /// Jobs that are held by a worker.
    pub running: i64,
    /// Jobs that are done, and not pruned yet.
    pub done: i64,
    /// Dead letters.
    pub dead: i64,
    /// Backfill jobs among those that are not ended.
    pub backfill: i64,
    /// The time for which the longest due job has been due, in milliseconds; none if none is due.
    pub oldest_due_ms: Option<i64>,
    /// Live workers.
    pub workers: i64,
}

/// Every queue of [`names`], and others that have jobs. `tag_model` is the label of the tagging model in the
/// caller's configuration, for as long as no worker reports one. Reads every job.
///
/// # Errors
/// A database error.
pub async fn stats(pool: &dyn Connections, tag_model: &str) -> Result<Vec<QueueStats>> {
    sql!(include_str!("sql/queue_stats.sql"))
        .bind("tag_model", tag_model)?
        .bind("backfill", priorities::BACKFILL)?
        .fetch_all(pool)
        .await
}

/// The jobs of a queue that ended in one minute.
#[derive(Clone, Debug, PartialEq, serde::Serialize, sqlx::FromRow)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct QueueMinute {
    /// The queue.
    pub queue: String,
    /// The start of the minute.
    pub minute: DateTime<Utc>,
    /// Jobs that were done. Pruned ones are not counted.
    pub done: i64,
    /// Jobs that became dead letters, and still are.
    pub dead: i64,
    /// The median time from when a job was due until it was done, in milliseconds; none if none was done.
    pub median_ms: Option<f64>,
    /// The same for the slowest twentieth of them.
    pub p95_ms: Option<f64>,
}

/// The jobs that ended in the last minutes.
///
/// # Errors
/// A database error.
pub async fn history(pool: &dyn Connections, minutes: u32) -> Result<Vec<QueueMinute>> {
    sql!(include_str!("sql/queue_history.sql")).bind("minutes", i64::from(minutes))?.fetch_all(pool).await
}

/// Pauses a queue: nothing is claimed from it until [`resume`]. Running jobs go on. Pausing again renews the reason.
///
/// # Errors
/// `queue_unknown`, or a database error.
pub async fn pause(pool: &dyn Connections, queue: &str, reason: &str) -> Result<()> {
    expect_known(pool, queue).await?;
    let pause = paused_queue::ActiveModel {
        queue: Set(queue.to_owned()),
        reason: Set(reason.to_owned()),
        ..Default::default()
    };
    let renewed = OnConflict::column(paused_queue::Column::Queue)
        .update_column(paused_queue::Column::Reason)
        .to_owned();
    paused_queue::Entity::insert(pause).on_conflict(renewed).exec_without_returning(&on(pool)).await?;
    Ok(())
}

/// The reason of a queue's pause; none if it is not paused.
///
/// # Errors
/// A database error.
pub async fn pause_of(pool: &dyn Connections, queue: &str) -> Result<Option<String>> {
    let pause = paused_queue::Entity::find_by_id(queue).one(&on(pool)).await?;
    Ok(pause.map(|pause| pause.reason))
}

/// Holds a queue for some time: the database refuses its results for the given reason, so nothing more is claimed. A
/// worker with unwritten results renews the hold with each try.
///
/// # Errors
/// A database error.
pub async fn hold(pool: &dyn Connections, queue: &str, reason: &str, time: Duration) -> Result<()> {
    sql!(
        "insert into htm.held_queues (queue, reason, until)
         values (:queue, :reason, now() + :time_ms * interval '1 millisecond')
         on conflict (queue) do update set reason = excluded.reason, until = excluded.until"
    )
    .bind("queue", queue)?
    .bind("reason", reason.replace('\0', " "))?
    .bind("time_ms", time.min(LONGEST_AGE).as_millis() as i64)?
    .execute(pool)
    .await?;
    Ok(())
}

/// Ends a [`hold`] and wakes the workers: the database takes results again.
///
/// # Errors
/// A database error; then the hold ends by its time.
pub async fn let_go(pool: &dyn Connections, queue: &str) -> Result<()> {
    sql!("update htm.held_queues set until = now() where queue = :queue and until > now()")
        .bind("queue", queue)?
        .execute(pool)
        .await?;
    jobs::ping(pool).await;
    Ok(())
}

/// Ends a pause and wakes the workers; false when the queue was not paused.
///
/// # Errors
/// `queue_unknown`, or a database error.
pub async fn resume(pool: &dyn Connections, queue: &str) -> Result<bool> {
    let deleted = paused_queue::Entity::delete_by_id(queue).exec(&on(pool)).await?;
    if deleted.rows_affected == 0 {
        expect_known(pool, queue).await?;
        return Ok(false);
    }
    jobs::ping_queue(pool, queue).await;
    Ok(true)
}

/// The names of the queues: one for tags, one for learning, one for each registered model, and `htm.embed`.
///
/// # Errors
/// A database error.
pub async fn names(pool: &dyn Connections) -> Result<Vec<String>> {
    sql!(concat!(include_str!("sql/queues.sql"), "order by queue")).fetch_scalars(pool).await
}

/// Deletes at most `limit` jobs that have been done for longer than `older_than`; returns their number. Their
/// completions stay.
///
/// # Errors
/// A database error.
pub async fn prune(pool: &dyn Connections, older_than: Duration, limit: usize) -> Result<usize> {
    let deleted = sql!(include_str!("sql/prune_done.sql"))
        .bind("age_ms", older_than.min(LONGEST_AGE).as_millis() as i64)?
        .bind("limit", limit as i64)?
        .execute(pool)
        .await?;
    Ok(deleted as usize)
}

/// Deletes the dead letters of a queue that are older than `older_than` and no longer needed; returns their number. A
/// dead letter that says why a live node lacks its result, or a namespace a ranking, stays. Each transaction reads a few thousand.
///
/// # Errors
/// A database error; what was deleted before it stays deleted.
pub async fn prune_dead(pool: &dyn Connections, queue: &str, older_than: Duration) -> Result<usize> {
    let mut pruned = 0;
    let mut after: Option<(DateTime<Utc>, String)> = None;
    loop {
        let (died_at, id) = after.unzip();
        let (deleted, last_died_at, last_id): (i64, Option<DateTime<Utc>>, Option<String>) =
            sql!(include_str!("sql/prune_dead.sql"))
                .bind("age_ms", older_than.min(LONGEST_AGE).as_millis() as i64)?
                .bind("queue", queue)?
                .bind("died_at", died_at)?
                .bind("id", id)?
                .fetch_one(pool)
                .await?;
        pruned += deleted as usize;
        after = last_died_at.zip(last_id);
        if after.is_none() {
            return Ok(pruned);
        }
    }
}

/// Makes sure that there is a queue of this name.
///
/// # Errors
/// `queue_unknown`, or a database error.
pub(crate) async fn expect_known(pool: &dyn Connections, queue: &str) -> Result<()> {
    let known = names(pool).await?;
    if known.iter().any(|name| name == queue) {
        return Ok(());
    }
    Err(queue_unknown(queue, &known))
}
