//! The life of an embedding model: added, filled, indexed, activated, retired.
//!
//! ```text
//!             add                 activate                   activate another one
//!   (none) ─────────▶ building ─────────────▶ active ◀──────────────────────────────▶ standby
//!                        │ ▲                             activate                        │
//!                 retire │ │ add                                                  retire │
//!                        ▼ │                                                             │
//!                      retired ◀─────────────────────────────────────────────────────────┘
//! ```
//!
//! Every write goes to each model that is not retired, so that any of them can be activated at once. The active model
//! changes in one transaction, under an advisory lock that adding and retiring take as well.

use std::time::{Duration, Instant};

use sea_orm::ActiveValue::Set;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use sqlx::{PgConnection, PgPool};

use super::audit_log::{self, Done};
use super::backfill::{self, Subject};
use super::connections::Connections;
use super::embeddings::{self, MODELS_KEPT, RegisteredModel};
use super::entity::embedding_model;
use super::named::{Named, sql};
use super::orm::on;
use super::{jobs, priorities, vector_index};
use crate::model::error::{Error, Result, codes};
use crate::model::jobs::Stage;
use crate::model::models::{ModelState, retired};
use crate::provider::ModelName;

/// The longest wait of an activation or a retirement for transactions that began before it.
const WRITERS_PATIENCE: Duration = Duration::from_secs(30);

/// The progress of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, sqlx::FromRow)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ModelOverview {
    /// The number of live nodes.
    pub nodes: i64,
    /// The number of nodes with an embedding of their current text.
    pub embedded: i64,
    /// The number of open jobs in its queue.
    pub open: i64,
    /// The number of dead letters in its queue.
    pub dead: i64,
    /// Whether its vector index is complete.
    pub indexed: bool,
    /// The size of its store and indexes, in bytes.
    pub bytes: i64,
}

impl ModelOverview {
    /// The share of live nodes that are embedded, 0 to 100.
    pub fn percent(&self) -> f64 {
        if self.nodes == 0 { 100.0 } else { self.embedded as f64 / self.nodes as f64 * 100.0 }
    }
}

/// The result of an activation.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Activation {
    /// The label of the model that recall uses now.
    pub active: String,
    /// The label of the formerly active model, which is on standby now; none if there was no other.
    pub standby: Option<String>,
    /// The number of jobs enqueued for nodes that the new model lacks. Unless forced, the old one lacked them as well.
    pub enqueued: i64,
    /// The number of nodes that vectors found before and do not find now; 0 unless forced.
    pub lost: i64,
}

/// Registers a model beside the others. A retired one is used again.
///
/// # Errors
/// A database error, also for dimensions outside 1 to 4,000.
pub(crate) async fn add(pool: &PgPool, name: &ModelName, dimensions: usize) -> Result<RegisteredModel> {
    let model = embeddings::register_model(pool, name, dimensions).await?;
    if model.is_in_use() {
        return Ok(model);
    }
    sql!("select htm.revive_embedding_model(:model)").bind("model", model.id)?.execute(pool).await?;
    Ok(embeddings::by_label(&embeddings::models(pool).await?, &model.label)?.clone())
}

/// The progress of a model; reads all nodes.
///
/// # Errors
/// A database error.
pub(crate) async fn overview(
    connection: &mut PgConnection,
    model: &RegisteredModel,
) -> Result<ModelOverview> {
    let exists: bool = sql!("select to_regclass(:store) is not null")
        .bind("store", model.store())?
        .fetch_scalar(&mut *connection)
        .await?;
    let dropped = "(select 0::bigint as node_id, '' as namespace, 0 as revision where false)";
    let sql = include_str!("sql/model_overview.sql")
        .replace("{{store}}", &if exists { model.store() } else { dropped.into() });
    Named::new(&sql)
        .bind("queue", &model.queue)?
        .bind("store", model.store())?
        .bind("index", model.index_of(model.vector_index))?
        .fetch_one(connection)
        .await
}

/// Makes a model the active one, in one transaction. The old one stays on standby, and can be activated in the same
/// way. Before that, the missing jobs of the new one are enqueued, chunk by chunk, and the workers are notified.
/// `max_attempts` is for those jobs.
///
/// # Errors
/// `model_unknown`; `model_retired`; `model_incomplete`, unless `forced`: nodes that vectors find now would not be
/// found; `writer_open`; or a database error. The active model is the same then; jobs may have been enqueued.
pub(crate) async fn activate(
    pool: &PgPool,
    label: &str,
    forced: bool,
    max_attempts: u32,
    done: Done<'_>,
) -> Result<Activation> {
    let look = async |connection: &mut PgConnection| {
        let models = embeddings::models_on(&mut *connection).await?;
        let target = embeddings::by_label(&models, label)?.clone();
        if !target.is_in_use() {
            return Err(retired(&target.label));
        }
        let active = models.into_iter().find(|model| model.state == ModelState::Active);
        let lost = match &active {
            Some(active) => count_lost(connection, active, &target).await?,
            None => 0,
        };
        match &active {
            Some(active) if lost > 0 && !forced => Err(incomplete(connection, active, &target, lost).await?),
            _ => Ok((target, active, lost)),
        }
    };
    // Checked before the index is built, which takes long, and again under the lock.
    let mut tx = Connections::begin_with(pool, PATIENT).await?;
    let (target, _, _) = look(&mut tx).await?;
    tx.rollback().await?;
    vector_index::build(pool, &target).await?;
    if !writers_end(pool, "htm.nodes", WRITERS_PATIENCE).await? && !forced {
        return Err(writer_open());
    }
    let enqueued = enqueue_missing(pool, &target, max_attempts).await?;
    let mut tx = Connections::begin_with(pool, PATIENT).await?;
    lock_in_tx(&mut tx).await?;
    let (target, active, lost) = look(&mut tx).await?;
    let standby = active.filter(|active| active.id != target.id);
    if let Some(standby) = &standby {
        set_state_in_tx(&mut tx, standby, ModelState::Standby).await?;
    }
    set_state_in_tx(&mut tx, &target, ModelState::Active).await?;
    audit_log::record(&mut tx, done).await?;
    tx.commit().await?;
    Ok(Activation { active: target.label, standby: standby.map(|model| model.label), enqueued, lost })
}

/// Retires a model: writes to it end, its open jobs and dead letters are deleted, and with `dropping` its store as
/// well. Returns the number of deleted jobs. A retired model can be retired again, to drop its store.
///
/// # Errors
/// `model_unknown`; `model_active`; `writer_open` (it is retired then, and jobs may be left: retire it again); or a
/// database error.
pub(crate) async fn retire(pool: &PgPool, label: &str, dropping: bool, done: Done<'_>) -> Result<u64> {
    let mut tx = Connections::begin(pool).await?;
    lock_in_tx(&mut tx).await?;
    let model = embeddings::by_label(&embeddings::models_on(&mut *tx).await?, label)?.clone();
    if model.state == ModelState::Active {
        let message = format!("embedding model {} is the active one", model.label);
        return Err(Error::new(codes::MODEL_ACTIVE, message));
    }
    set_state_in_tx(&mut tx, &model, ModelState::Retired).await?;
    if let Some(queue) = &model.queue {
        backfill::give_up_in_tx(&mut tx, queue).await?;
    }
    audit_log::record(&mut tx, done).await?;
    tx.commit().await?;
    // Transactions that read the models before that commit may still write a job.
    if !writers_end(pool, "htm.nodes", WRITERS_PATIENCE).await? {
        return Err(writer_open());
    }
    let mut tx = Connections::begin_with(pool, PATIENT).await?;
    // Jobs are locked in the order of their ids, so that no two statements deadlock.
    let removed = sql!(
        "with doomed as (
            select id from apalis.jobs
             where job_type = :queue and job_type like 'htm.%' and status <> 'Done'
             order by id
               for update
         )
         delete from apalis.jobs j using doomed d where j.id = d.id"
    )
    .bind("queue", &model.queue)?
    .execute(&mut *tx)
    .await?;
    tx.commit().await?;
    if dropping {
        // Other processes may not have seen yet that it is retired, and may still search it.
        tokio::time::sleep(2 * MODELS_KEPT).await;
        let mut tx = Connections::begin_with(pool, PATIENT).await?;
        sql!("select htm.drop_embedding_store(:model)").bind("model", model.id)?.execute(&mut *tx).await?;
        tx.commit().await?;
    }
    Ok(removed)
}

/// Waits until every transaction that has written to a table by now is over: it may have read other tables before they
/// changed. False if one is still open after `patience`.
///
/// # Errors
/// A database error.
pub(crate) async fn writers_end(pool: &PgPool, table: &str, patience: Duration) -> Result<bool> {
    let open = async |among: Option<&[String]>| -> Result<Vec<String>> {
        let writers = sql!(include_str!("sql/writers.sql")).bind("table", table)?;
        writers.bind("among", among)?.fetch_scalars(pool).await
    };
    let started = Instant::now();
    let mut writers = open(None).await?;
    while !writers.is_empty() {
        if started.elapsed() > patience {
            return Ok(false);
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
        writers = open(Some(&writers)).await?;
    }
    Ok(true)
}

/// Reading all nodes may take longer than the application's statement timeout.
const PATIENT: &str = "begin; set local statement_timeout = 0";

async fn lock_in_tx(connection: &mut PgConnection) -> Result<()> {
    sql!("select pg_advisory_xact_lock(hashtext('htm.embedding_models'))").execute(connection).await?;
    Ok(())
}

async fn set_state_in_tx(
    connection: &mut PgConnection,
    model: &RegisteredModel,
    state: ModelState,
) -> Result<()> {
    let change = embedding_model::ActiveModel { state: Set(state), ..Default::default() };
    embedding_model::Entity::update_many()
        .set(change)
        .filter(embedding_model::Column::Id.eq(model.id))
        .exec(&on(connection))
        .await?;
    Ok(())
}

async fn count_lost(
    connection: &mut PgConnection,
    active: &RegisteredModel,
    target: &RegisteredModel,
) -> Result<i64> {
    let sql = include_str!("sql/model_lost.sql")
        .replace("{{active}}", &active.store())
        .replace("{{target}}", &target.store());
    Named::new(&sql)
        .bind("queue", &target.queue)?
        .bind("priority", priorities::BACKFILL)?
        .fetch_scalar(connection)
        .await
}

async fn incomplete(
    connection: &mut PgConnection,
    active: &RegisteredModel,
    target: &RegisteredModel,
    missing: i64,
) -> Result<Error> {
    let ModelOverview { open, dead, .. } = overview(connection, target).await?;
    let (label, active) = (&target.label, &active.label);
    let message =
        format!("{label} lacks the embeddings of {missing} nodes that recall finds by vector with {active}");
    let error = Error::new(codes::MODEL_INCOMPLETE, message).with_value("label", label);
    if target.is_of_callers() {
        return Ok(error.with_hint(
            "bring the missing vectors: `Htm::set_vector`; or go without those nodes: `Models::activate` with `forced`",
        ));
    }
    Ok(error
        .with_hint(format!(
            "open jobs in its queue: {open}, dead letters: {dead}. Wait, and retry the dead: `Jobs::retry`; or go \
             without those nodes: `Models::activate` with `forced`"
        ))
        .with_value("open", open)
        .with_value("dead", dead))
}

fn writer_open() -> Error {
    let waited_ms = WRITERS_PATIENCE.as_millis();
    let message = format!("a transaction that remembered something is still open after {waited_ms} ms");
    Error::new(codes::WRITER_OPEN, message)
}

/// The number of nodes of one transaction: locks and snapshots are held for a few hundred milliseconds.
const CHUNK: i64 = 5_000;

/// Enqueues the missing jobs of the model, so that no node is stranded when it becomes active. Nodes that are written
/// from now on get their jobs with the write: the model is in use.
async fn enqueue_missing(pool: &PgPool, target: &RegisteredModel, max_attempts: u32) -> Result<i64> {
    let Some(queue) = &target.queue else { return Ok(0) };
    let subject = Subject {
        stage: Stage::Embed,
        queue: queue.clone(),
        model: target.label.clone(),
        namespace: None,
        since: None,
        forced: false,
        version: None,
    };
    let mut enqueued = 0;
    loop {
        let (mut run, _) = backfill::start(&mut *pool.acquire().await?, &subject).await?;
        let before = run.enqueued;
        while !run.is_finished() {
            run = backfill::advance(pool, run.id, &subject, CHUNK, max_attempts).await?;
            jobs::ping_queue(pool, queue).await;
        }
        enqueued += run.enqueued - before;
        // One that is cancelled meanwhile has left nodes out. A retirement cancels it too: then there is no activation.
        let models = embeddings::models(pool).await?;
        let is_in_use = models.iter().any(|model| model.label == target.label && model.is_in_use());
        if !run.cancelled || !is_in_use {
            return Ok(enqueued);
        }
    }
}
