//! Backfills: the progress of each run (`htm.backfills`), and the jobs that it enqueues, a chunk of nodes at a time.

use std::time::Duration;

use chrono::{DateTime, Utc};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect};
use sqlx::PgConnection;

use super::connections::Connections;
use super::entity::backfill;
use super::named::sql;
use super::orm::on;
use super::priorities;
use crate::model::error::{Error, Result};
use crate::model::jobs::Stage;

/// The statements that begin the transaction of a chunk. The nodes of a namespace may lie far apart, and all nodes
/// between them are read. Without sorting, they are read in the order of the primary key, up to the end of the chunk.
pub(crate) const BEGIN: &str = "begin; set local statement_timeout = 0; set local enable_sort = off;
                                set local plan_cache_mode = force_custom_plan";

/// The most runs that a server goes on with at a time.
const MOST_SERVED: i64 = 16;

/// The subject of a run. Two runs with the same subject are one.
#[derive(Clone, Debug)]
pub(crate) struct Subject {
    pub(crate) stage: Stage,
    pub(crate) queue: String,
    pub(crate) model: String,
    pub(crate) namespace: Option<String>,
    pub(crate) since: Option<DateTime<Utc>>,
    pub(crate) forced: bool,
    /// Only the results of another version than this one, or of another model; `forced` is then set as well.
    pub(crate) version: Option<String>,
}

impl Subject {
    /// The model and the version as one text: the index `backfills_one_open` has one column for both.
    fn subject(&self) -> String {
        match &self.version {
            Some(version) => format!("{}{}", self.model, but_for(version)),
            None => self.model.clone(),
        }
    }

    /// The subject of a run.
    pub(crate) fn of(run: &Run) -> Self {
        Self {
            stage: Stage::of_queue(&run.queue),
            queue: run.queue.clone(),
            model: run.plain_model().to_owned(),
            namespace: run.namespace.clone(),
            since: run.since,
            forced: run.forced,
            version: run.version.clone(),
        }
    }
}

fn but_for(version: &str) -> String {
    format!(" but for version {version}")
}

/// The state of a run.
pub(crate) type Run = backfill::Model;

/// The result of a chunk.
#[derive(Clone, Copy, Debug, sqlx::FromRow)]
pub(crate) struct Chunk {
    /// Its last node; none if it has no nodes.
    pub(crate) last: Option<i64>,
    /// The number of its nodes.
    pub(crate) nodes: i64,
    /// The number of nodes that lack the stage.
    pub(crate) wanted: i64,
    /// The number of enqueued jobs.
    pub(crate) enqueued: i64,
}

/// A range of nodes, and whether their jobs are enqueued or only counted.
#[derive(Clone, Copy)]
pub(crate) struct Range {
    pub(crate) after: i64,
    pub(crate) up_to: i64,
    pub(crate) limit: i64,
    pub(crate) count_only: bool,
}

/// Returns the unfinished run with this subject, or starts one over the existing nodes; and whether it is new.
pub(crate) async fn start(connection: &mut PgConnection, subject: &Subject) -> Result<(Run, bool)> {
    // Another process may start a run between the two statements, and a run may end between them: then try again.
    for _ in 0..3 {
        let unfinished = backfill::Entity::find()
            .filter(backfill::Column::FinishedAt.is_null())
            .filter(backfill::Column::Queue.eq(&subject.queue))
            .filter(backfill::Column::Model.eq(subject.subject()))
            .filter(backfill::Column::Namespace.eq(subject.namespace.as_deref()))
            .filter(backfill::Column::Since.eq(subject.since))
            .filter(backfill::Column::Forced.eq(subject.forced))
            .one(&on(&mut *connection))
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

/// The run as it is now.
pub(crate) async fn read(pool: &dyn Connections, run: i64) -> Result<Run> {
    let found = backfill::Entity::find_by_id(run).one(&on(pool)).await?;
    found.ok_or_else(|| Error::corrupt(format!("backfill {run} is gone")))
}

/// Enqueues the next chunk and moves the cursor, in one transaction: an interruption neither loses nor duplicates jobs.
/// A second process at the same run waits for the chunk of the first one and takes the next.
pub(crate) async fn advance(
    pool: &dyn Connections,
    run: i64,
    subject: &Subject,
    limit: i64,
    max_attempts: u32,
) -> Result<Run> {
    let mut tx = pool.begin_with(BEGIN).await?;
    let now = backfill::Entity::find_by_id(run)
        .lock_exclusive()
        .one(&on(&mut tx))
        .await?
        .ok_or_else(|| Error::corrupt(format!("backfill {run} is gone")))?;
    if now.is_finished() {
        return Ok(now);
    }
    let range = Range { after: now.cursor_node, up_to: now.last_node, limit, count_only: false };
    let done = chunk_in_tx(&mut tx, run, subject, range, max_attempts).await?;
    let cursor = done.last.filter(|_| done.nodes == limit).unwrap_or(now.last_node);
    let progress = backfill::ActiveModel {
        cursor_node: Set(cursor),
        enqueued: Set(now.enqueued + done.enqueued),
        ..Default::default()
    };
    let mut update = backfill::Entity::update_many().set(progress).filter(backfill::Column::Id.eq(run));
    if cursor >= now.last_node {
        update = update.col_expr(backfill::Column::FinishedAt, Expr::current_timestamp());
    }
    let updated = update.exec_with_returning(&on(&mut tx)).await?;
    tx.commit().await?;
    Ok(updated.into_iter().next().unwrap_or(now))
}

impl Run {
    pub(crate) fn is_finished(&self) -> bool {
        self.finished_at.is_some()
    }

    /// The model, without the version that the column has too.
    pub(crate) fn plain_model(&self) -> &str {
        let version = self.version.as_deref().map(but_for);
        version.and_then(|it| self.model.strip_suffix(&it)).unwrap_or(&self.model)
    }
}

/// Gives a run to the servers; none if it has ended meanwhile.
pub(crate) async fn serve(connection: &mut PgConnection, run: i64, max_queued: u64) -> Result<Option<Run>> {
    let max_queued = i64::try_from(max_queued).unwrap_or(i64::MAX);
    let served = backfill::Entity::update_many()
        .set(backfill::ActiveModel { max_queued: Set(Some(max_queued)), ..Default::default() })
        .filter(backfill::Column::Id.eq(run))
        .filter(backfill::Column::FinishedAt.is_null())
        .exec_with_returning(&on(connection))
        .await?;
    Ok(served.into_iter().next())
}

/// The runs that this server goes on with: those that it has, renewed, and those that no server has. More than it goes on
/// with at a time take turns. New and released runs come first, then those whose turn ended longest ago. Those that wait
/// are left to other servers.
pub(crate) async fn claim(pool: &dyn Connections, server: &str, lease: Duration) -> Result<Vec<Run>> {
    sql!(
        "with turn as (
            select id from htm.backfills
             where finished_at is null and max_queued is not null
               and (server = :server or served_until is null or served_until < clock_timestamp())
             order by served_until nulls first, id limit :most for update skip locked
         ), waiting as (
            update htm.backfills set served_until = clock_timestamp()
             where id = any (array(select id from htm.backfills
                                    where finished_at is null and server = :server and served_until > clock_timestamp()
                                      and id <> all (array(select id from turn))
                                      for update skip locked))
         )
         update htm.backfills b
            set server = :server, served_until = clock_timestamp() + :lease_ms * interval '1 millisecond'
           from turn where b.id = turn.id
         returning b.*"
    )
    .bind("server", server)?
    .bind("lease_ms", lease.as_millis() as i64)?
    .bind("most", MOST_SERVED)?
    .fetch_all(pool)
    .await
}

/// Leaves the runs of a server to others at once.
pub(crate) async fn release(pool: &dyn Connections, server: &str) -> Result<()> {
    backfill::Entity::update_many()
        .col_expr(backfill::Column::ServedUntil, Expr::value(None::<DateTime<Utc>>))
        .filter(backfill::Column::Server.eq(server))
        .filter(backfill::Column::FinishedAt.is_null())
        .exec(&on(pool))
        .await?;
    Ok(())
}

/// The last runs, the newest first; only those of these namespaces, if they are given.
pub(crate) async fn list(
    pool: &dyn Connections,
    seen: Option<&[String]>,
    run: Option<i64>,
    before: Option<i64>,
    limit: u32,
) -> Result<Vec<Run>> {
    sql!(
        "select * from htm.backfills
          where (:seen::text[] is null or htm.is_within(namespace, :seen)) and (:run::bigint is null or id = :run)
            and (:before::bigint is null or id < :before)
          order by id desc limit :limit"
    )
    .bind("seen", seen)?
    .bind("run", run)?
    .bind("before", before)?
    .bind("limit", i64::from(limit))?
    .planned_anew()
    .fetch_all(pool)
    .await
}

/// Ends a run where it is. Its enqueued jobs stay. Waits for the chunk that is being enqueued.
pub(crate) async fn cancel(pool: &dyn Connections, run: i64) -> Result<()> {
    backfill::Entity::update_many()
        .set(backfill::ActiveModel { cancelled: Set(true), ..Default::default() })
        .col_expr(backfill::Column::FinishedAt, Expr::cust("clock_timestamp()"))
        .filter(backfill::Column::Id.eq(run))
        .filter(backfill::Column::FinishedAt.is_null())
        .exec(&on(pool))
        .await?;
    Ok(())
}

/// Ends the unfinished runs of a queue that is no longer served.
pub(crate) async fn give_up_in_tx(connection: &mut PgConnection, queue: &str) -> Result<()> {
    backfill::Entity::update_many()
        .set(backfill::ActiveModel { cancelled: Set(true), ..Default::default() })
        .col_expr(backfill::Column::FinishedAt, Expr::current_timestamp())
        .filter(backfill::Column::Queue.eq(queue))
        .filter(backfill::Column::FinishedAt.is_null())
        .exec(&on(connection))
        .await?;
    Ok(())
}

/// Enqueues, or only counts, the missing jobs of the nodes of a range.
pub(crate) async fn chunk_in_tx(
    connection: &mut PgConnection,
    run: i64,
    subject: &Subject,
    range: Range,
    max_attempts: u32,
) -> Result<Chunk> {
    sql!(include_str!("sql/backfill_chunk.sql"))
        .bind("stage", subject.stage.as_ref())?
        .bind("queue", &subject.queue)?
        .bind("model", &subject.model)?
        .bind("run", run)?
        .bind("forced", subject.forced)?
        .bind("after", range.after)?
        .bind("up_to", range.up_to)?
        .bind("limit", range.limit)?
        .bind("namespace", &subject.namespace)?
        .bind("since", subject.since)?
        .bind("max_attempts", max_attempts as i32)?
        .bind("priority", priorities::BACKFILL)?
        .bind("count_only", range.count_only)?
        .bind("version", &subject.version)?
        .fetch_one(connection)
        .await
}

/// The number of backfill jobs of a queue that wait for a worker, counted up to `most`.
pub(crate) async fn count_queued(pool: &dyn Connections, queue: &str, most: u64) -> Result<u64> {
    let count: i64 = sql!(
        "select count(*) from (select from apalis.jobs
                                where job_type = :queue and status = 'Pending' and priority = :priority
                                  and not metadata ? 'parked' limit :most) queued"
    )
    .bind("queue", queue)?
    .bind("most", i64::try_from(most).unwrap_or(i64::MAX))?
    .bind("priority", priorities::BACKFILL)?
    .fetch_scalar(pool)
    .await?;
    Ok(count as u64)
}

/// The numbers of unfinished backfill jobs of a queue: open, parked, dead.
pub(crate) async fn count_unfinished(
    pool: &dyn Connections,
    queue: &str,
    namespace: Option<&str>,
) -> Result<(i64, i64, i64)> {
    sql!(
        "select count(*) filter (where status <> 'Killed' and (not metadata ? 'parked' or run_at <= now())),
                count(*) filter (where status <> 'Killed' and metadata ? 'parked' and run_at > now()),
                count(*) filter (where status = 'Killed')
           from apalis.jobs
          where job_type = :queue and job_type like 'htm.%' and status <> 'Done' and priority = :priority
            and (:namespace::text is null or metadata -> 'namespace' = :namespace)"
    )
    .bind("queue", queue)?
    .bind("namespace", namespace)?
    .bind("priority", priorities::BACKFILL)?
    .fetch_one(pool)
    .await
}

/// Inserts a run over the existing nodes; none if a run with the same subject is unfinished.
async fn insert(connection: &mut PgConnection, subject: &Subject) -> Result<Option<Run>> {
    sql!(
        "insert into htm.backfills (queue, model, version, namespace, since, forced, last_node)
         -- Of its own namespace: the ids of others are not shown. `offset 0`: never all nodes by id in search of one.
         select :queue, :model, :version, :namespace, :since, :forced,
                coalesce(case when :namespace::text is null then (select max(id) from htm.nodes)
                              else (select max(n.id) from (select id from htm.nodes where namespace = :namespace offset 0) n)
                         end, 0)
         on conflict (queue, model, coalesce(namespace, ''), coalesce(since, '-infinity'), forced)
            where finished_at is null do nothing
         returning *"
    )
    .bind("queue", &subject.queue)?
    .bind("model", subject.subject())?
    .bind("version", &subject.version)?
    .bind("namespace", &subject.namespace)?
    .bind("since", subject.since)?
    .bind("forced", subject.forced)?
    .fetch_optional(connection)
    .await
}
