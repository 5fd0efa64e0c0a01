//! Backfills: where each run is (`htm.backfills`), and the jobs that it enqueues, a chunk of nodes at a time.

use chrono::{DateTime, Utc};
use sqlx::{PgConnection, PgPool};

use super::priorities;
use crate::model::error::{Error, Result};
use crate::model::jobs::Stage;

/// How the transaction of a chunk begins. The nodes of a namespace may lie far apart, and all between are looked at;
/// without sorting, they are read in the order of the primary key, up to the chunk's end.
pub(crate) const BEGIN: &str = "begin; set local statement_timeout = 0; set local enable_sort = off;
                                set local plan_cache_mode = force_custom_plan";

/// What a run is about: two runs about the same are one.
#[derive(Clone, Debug)]
pub(crate) struct Subject {
    pub(crate) stage: Stage,
    pub(crate) queue: String,
    pub(crate) model: String,
    pub(crate) namespace: Option<String>,
    pub(crate) since: Option<DateTime<Utc>>,
    pub(crate) forced: bool,
    /// Only what was done by another version than this one, or by another model; forced as well then.
    pub(crate) version: Option<String>,
}

impl Subject {
    /// What tells runs apart by model and version, in the one column that `backfills_one_open` has for it.
    fn subject(&self) -> String {
        match &self.version {
            Some(version) => format!("{} but for version {version}", self.model),
            None => self.model.clone(),
        }
    }
}

/// Where a run is.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(crate) struct Run {
    pub(crate) id: i64,
    pub(crate) cursor_node: i64,
    pub(crate) last_node: i64,
    pub(crate) enqueued: i64,
    pub(crate) finished: bool,
}

/// What became of a chunk.
#[derive(Clone, Copy, Debug, sqlx::FromRow)]
pub(crate) struct Chunk {
    /// Its last node; none when there was no node.
    pub(crate) last: Option<i64>,
    /// How many nodes there were.
    pub(crate) nodes: i64,
    /// How many of them lack the stage.
    pub(crate) wanted: i64,
    /// How many jobs were enqueued.
    pub(crate) enqueued: i64,
}

/// Which nodes, and whether their jobs are enqueued or only counted.
#[derive(Clone, Copy)]
pub(crate) struct Range {
    pub(crate) after: i64,
    pub(crate) up_to: i64,
    pub(crate) limit: i64,
    pub(crate) count_only: bool,
}

/// The unfinished run about `subject`, or a new one over the nodes that there are now; and whether it is new.
pub(crate) async fn start(connection: &mut PgConnection, subject: &Subject) -> Result<(Run, bool)> {
    // A run that ends between both statements is one that need not be continued.
    for _ in 0..3 {
        let unfinished: Option<Run> = sqlx::query_as(
            "select id, cursor_node, last_node, enqueued, false as finished from htm.backfills
              where finished_at is null and queue = $1 and model = $2 and namespace is not distinct from $3
                and since is not distinct from $4 and forced = $5",
        )
        .bind(&subject.queue)
        .bind(subject.subject())
        .bind(&subject.namespace)
        .bind(subject.since)
        .bind(subject.forced)
        .fetch_optional(&mut *connection)
        .await?;
        if let Some(run) = unfinished {
            return Ok((run, false));
        }
        if let Some(run) = insert(connection, subject).await? {
            return Ok((run, true));
        }
    }
    Err(Error::contended())
}

/// Enqueues the next chunk and moves the cursor, in one transaction: what interrupts it loses and doubles nothing. A
/// second process at the same run waits for the first one's chunk and takes the next.
pub(crate) async fn advance(
    pool: &PgPool,
    run: i64,
    subject: &Subject,
    limit: i64,
    max_attempts: u32,
) -> Result<Run> {
    let mut tx = pool.begin_with(BEGIN).await?;
    let now: Run = sqlx::query_as(
        "select id, cursor_node, last_node, enqueued, finished_at is not null as finished
           from htm.backfills where id = $1 for update",
    )
    .bind(run)
    .fetch_one(&mut *tx)
    .await?;
    if now.finished {
        return Ok(now);
    }
    let range = Range { after: now.cursor_node, up_to: now.last_node, limit, count_only: false };
    let done = chunk_in_tx(&mut tx, run, subject, range, max_attempts).await?;
    let cursor = done.last.filter(|_| done.nodes == limit).unwrap_or(now.last_node);
    let run = sqlx::query_as(
        "update htm.backfills
            set cursor_node = $2, enqueued = enqueued + $3, finished_at = case when $2 >= last_node then now() end
          where id = $1
         returning id, cursor_node, last_node, enqueued, finished_at is not null as finished",
    )
    .bind(run)
    .bind(cursor)
    .bind(done.enqueued)
    .fetch_one(&mut *tx)
    .await?;
    tx.commit().await?;
    Ok(run)
}

/// Ends the runs of a queue that nobody serves any more.
pub(crate) async fn give_up_in_tx(connection: &mut PgConnection, queue: &str) -> Result<()> {
    sqlx::query("update htm.backfills set finished_at = now() where queue = $1 and finished_at is null")
        .bind(queue)
        .execute(connection)
        .await?;
    Ok(())
}

/// Enqueues, or only counts, the jobs that the nodes of a range lack.
pub(crate) async fn chunk_in_tx(
    connection: &mut PgConnection,
    run: i64,
    subject: &Subject,
    range: Range,
    max_attempts: u32,
) -> Result<Chunk> {
    Ok(sqlx::query_as(include_str!("sql/backfill_chunk.sql"))
        .bind(subject.stage.as_str())
        .bind(&subject.queue)
        .bind(&subject.model)
        .bind(run)
        .bind(subject.forced)
        .bind(range.after)
        .bind(range.up_to)
        .bind(range.limit)
        .bind(&subject.namespace)
        .bind(subject.since)
        .bind(max_attempts as i32)
        .bind(priorities::BACKFILL)
        .bind(range.count_only)
        .bind(&subject.version)
        .fetch_one(connection)
        .await?)
}

/// How many backfill jobs of a queue wait for a worker; counted up to `most`.
pub(crate) async fn count_queued(pool: &PgPool, queue: &str, most: u64) -> Result<u64> {
    let count: i64 = sqlx::query_scalar(
        "select count(*) from (select from apalis.jobs
                                where job_type = $1 and status = 'Pending' and priority = $3
                                  and not metadata ? 'parked' limit $2) queued",
    )
    .bind(queue)
    .bind(i64::try_from(most).unwrap_or(i64::MAX))
    .bind(priorities::BACKFILL)
    .fetch_one(pool)
    .await?;
    Ok(count as u64)
}

/// The backfill jobs of a queue that are not done: open, parked, dead.
pub(crate) async fn count_unfinished(
    pool: &PgPool,
    queue: &str,
    namespace: Option<&str>,
) -> Result<(i64, i64, i64)> {
    Ok(sqlx::query_as(
        "select count(*) filter (where status <> 'Killed' and not metadata ? 'parked'),
                count(*) filter (where metadata ? 'parked'),
                count(*) filter (where status = 'Killed')
           from apalis.jobs
          where job_type = $1 and job_type like 'htm.%' and status <> 'Done' and priority = $3
            and ($2::text is null or metadata -> 'namespace' = $2)",
    )
    .bind(queue)
    .bind(namespace)
    .bind(priorities::BACKFILL)
    .fetch_one(pool)
    .await?)
}

/// A new run over the nodes that there are now; none when one about the same is unfinished.
async fn insert(connection: &mut PgConnection, subject: &Subject) -> Result<Option<Run>> {
    Ok(sqlx::query_as(
        "insert into htm.backfills (queue, model, namespace, since, forced, last_node)
         -- Of its own namespace: the ids of others are not shown. `offset 0`: never all nodes by id in search of one.
         select $1, $2, $3, $4, $5,
                coalesce(case when $3::text is null then (select max(id) from htm.nodes)
                              else (select max(n.id) from (select id from htm.nodes where namespace = $3 offset 0) n)
                         end, 0)
         on conflict (queue, model, coalesce(namespace, ''), coalesce(since, '-infinity'), forced)
            where finished_at is null do nothing
         returning id, cursor_node, last_node, enqueued, false as finished",
    )
    .bind(&subject.queue)
    .bind(subject.subject())
    .bind(&subject.namespace)
    .bind(subject.since)
    .bind(subject.forced)
    .fetch_optional(connection)
    .await?)
}
