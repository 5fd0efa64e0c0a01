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
//! Every write goes to each model that is not retired, so that any of them can be asked at once. Which one is asked
//! changes in one transaction, under an advisory lock that adding and retiring take as well.

use std::time::{Duration, Instant};

use sea_orm::ActiveValue::Set;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use sqlx::{AssertSqlSafe, Connection, PgConnection, PgPool};

use super::backfill::{self, Subject};
use super::embeddings::{self, MODELS_KEPT, ModelState, RegisteredModel};
use super::entity::embedding_model;
use super::named::{Named, sql};
use super::orm::on;
use super::{jobs, priorities};
use crate::model::error::{Error, Result, codes};
use crate::model::jobs::Stage;
use crate::model::models::retired;
use crate::provider::ModelName;

/// How long an activation or a retirement waits for transactions that began before it.
const WRITERS_PATIENCE: Duration = Duration::from_secs(30);

/// How far a model is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, sqlx::FromRow)]
pub struct ModelOverview {
    /// Live nodes that there are.
    pub nodes: i64,
    /// Those whose embedding is in its store, of the text that they have now.
    pub embedded: i64,
    /// Jobs that its queue has to do.
    pub open: i64,
    /// Dead letters in its queue.
    pub dead: i64,
    /// Whether its vector index is complete.
    pub indexed: bool,
    /// What its store and indexes take, in bytes.
    pub bytes: i64,
}

impl ModelOverview {
    /// The share of the live nodes that is embedded, 0 to 100.
    pub fn percent(&self) -> f64 {
        if self.nodes == 0 { 100.0 } else { self.embedded as f64 / self.nodes as f64 * 100.0 }
    }
}

/// What an activation did.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Activation {
    /// The label of the model that recall asks now.
    pub active: String,
    /// The label of the one that it asked before; on standby now.
    pub standby: Option<String>,
    /// Jobs that were enqueued for nodes that the new one lacks and the old one lacked as well.
    pub enqueued: i64,
    /// Nodes that vectors found before and do not find now; only a forced activation leaves any.
    pub lost: i64,
}

/// Registers a model beside those that there are; a retired one is taken into use again.
///
/// # Errors
/// A database error, also for dimensions outside 1 to 4,000.
pub async fn add(pool: &PgPool, name: &ModelName, dimensions: usize) -> Result<RegisteredModel> {
    let model = embeddings::register_model(pool, name, dimensions).await?;
    if model.is_in_use() {
        return Ok(model);
    }
    sql!("select htm.revive_embedding_model(:model)").bind("model", model.id)?.execute(pool).await?;
    Ok(embeddings::by_label(&embeddings::models(pool).await?, &model.label)?.clone())
}

/// How far a model is; reads all nodes.
///
/// # Errors
/// A database error.
pub async fn overview(pool: &PgPool, model: &RegisteredModel) -> Result<ModelOverview> {
    let exists: bool = sql!("select to_regclass(:store) is not null")
        .bind("store", model.store())?
        .fetch_scalar(pool)
        .await?;
    let dropped = "(select 0::bigint as node_id, 0 as revision where false)";
    let sql = include_str!("sql/model_overview.sql")
        .replace("{{store}}", &if exists { model.store() } else { dropped.into() });
    Named::new(&sql)
        .bind("queue", &model.queue)?
        .bind("store", model.store())?
        .bind("index", model.index())?
        .fetch_one(pool)
        .await
}

/// Makes a model's vector index unless it is there; what an interrupted build left behind is dropped first. Writes and
/// recalls go on meanwhile. True when it was made by this call.
///
/// # Errors
/// A database error.
pub async fn build_index(pool: &PgPool, model: &RegisteredModel) -> Result<bool> {
    // A connection of its own: PostgreSQL builds concurrently outside of transactions only, and it may take hours.
    let options = pool.connect_options().as_ref().clone().options([("statement_timeout", "0")]);
    let mut connection = PgConnection::connect_with(&options).await?;
    let result = build_index_on(&mut connection, model).await;
    connection.close().await?;
    result
}

/// How much of a model's index is built, 0 to 1; none while nobody builds it, or it is not known.
///
/// # Errors
/// A database error.
pub async fn index_progress(pool: &PgPool, model: &RegisteredModel) -> Result<Option<f64>> {
    let share: Option<Option<f64>> = sql!(
        "select blocks_done::float8 / nullif(blocks_total, 0) from pg_stat_progress_create_index
          where datname = current_database() and relid = to_regclass(:store)"
    )
    .bind("store", model.store())?
    .fetch_optional_scalar(pool)
    .await?;
    Ok(share.flatten())
}

/// Makes a model the one that recall asks, in one transaction; the old one stays on standby, and can be activated in
/// the same way. Before that, what the new one lacks is enqueued, chunk by chunk, and the workers are told.
/// `max_attempts` is for those jobs.
///
/// # Errors
/// `model_unknown`; `model_retired`; `model_incomplete`, unless `forced`: nodes that vectors find now would not be
/// found; `writer_open`; or a database error. The active model is the same then; jobs may have been enqueued.
pub async fn activate(pool: &PgPool, label: &str, forced: bool, max_attempts: u32) -> Result<Activation> {
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
            Some(active) if lost > 0 && !forced => Err(incomplete(pool, active, &target, lost).await?),
            _ => Ok((target, active, lost)),
        }
    };
    // Said before the index is built, which takes long, and again when nobody can change it.
    let mut tx = pool.begin_with(PATIENT).await?;
    let (target, _, _) = look(&mut tx).await?;
    tx.rollback().await?;
    build_index(pool, &target).await?;
    if !writers_end(pool, WRITERS_PATIENCE).await? && !forced {
        return Err(writer_open());
    }
    let enqueued = enqueue_missing(pool, &target, max_attempts).await?;
    let mut tx = pool.begin_with(PATIENT).await?;
    lock_in_tx(&mut tx).await?;
    let (target, active, lost) = look(&mut tx).await?;
    let standby = active.filter(|active| active.id != target.id);
    if let Some(standby) = &standby {
        set_state_in_tx(&mut tx, standby, ModelState::Standby).await?;
    }
    set_state_in_tx(&mut tx, &target, ModelState::Active).await?;
    tx.commit().await?;
    Ok(Activation { active: target.label, standby: standby.map(|model| model.label), enqueued, lost })
}

/// Ends the use of a model: nothing is written to it any more, its open jobs and dead letters are removed, and with
/// `dropping` its store as well. Returns how many jobs were removed. A retired one can be retired again, to drop it.
///
/// # Errors
/// `model_unknown`; `model_active`; `writer_open` (it is retired then, and jobs may be left: retire it again); or a
/// database error.
pub async fn retire(pool: &PgPool, label: &str, dropping: bool) -> Result<u64> {
    let mut tx = pool.begin().await?;
    lock_in_tx(&mut tx).await?;
    let model = embeddings::by_label(&embeddings::models_on(&mut *tx).await?, label)?.clone();
    if model.state == ModelState::Active {
        let message = format!("embedding model {} is the active one", model.label);
        return Err(Error::new(codes::MODEL_ACTIVE, message));
    }
    set_state_in_tx(&mut tx, &model, ModelState::Retired).await?;
    backfill::give_up_in_tx(&mut tx, &model.queue).await?;
    tx.commit().await?;
    // Those who read the models before that commit may still write a job.
    if !writers_end(pool, WRITERS_PATIENCE).await? {
        return Err(writer_open());
    }
    let mut tx = pool.begin_with(PATIENT).await?;
    let removed = sql!(
        "delete from apalis.jobs where job_type = :queue and job_type like 'htm.%' and status <> 'Done'"
    )
    .bind("queue", &model.queue)?
    .execute(&mut *tx)
    .await?;
    tx.commit().await?;
    if dropping {
        // Other processes may not have seen yet that it is retired, and recall by it.
        tokio::time::sleep(2 * MODELS_KEPT).await;
        let mut tx = pool.begin_with(PATIENT).await?;
        sql!("select htm.drop_embedding_store(:model)").bind("model", model.id)?.execute(&mut *tx).await?;
        tx.commit().await?;
    }
    Ok(removed)
}

/// Waits until every transaction that has written nodes by now is over: those may have read the list of models before
/// it changed. False when one is still open after `patience`.
///
/// # Errors
/// A database error.
pub(crate) async fn writers_end(pool: &PgPool, patience: Duration) -> Result<bool> {
    let open = async |among: Option<&[String]>| -> Result<Vec<String>> {
        sql!(include_str!("sql/writers.sql")).bind("among", among)?.fetch_scalars(pool).await
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

/// Looks at all nodes: longer than a statement of the application may take.
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
    let change = embedding_model::ActiveModel { state: Set(state.to_string()), ..Default::default() };
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
    pool: &PgPool,
    active: &RegisteredModel,
    target: &RegisteredModel,
    missing: i64,
) -> Result<Error> {
    let ModelOverview { open, dead, .. } = overview(pool, target).await?;
    let (label, active) = (&target.label, &active.label);
    let message =
        format!("{label} lacks the embeddings of {missing} nodes that recall finds by vector with {active}");
    Ok(Error::new(codes::MODEL_INCOMPLETE, message)
        .with_hint(format!(
            "open jobs in its queue: {open}, dead letters: {dead}. Wait, and retry the dead: `Jobs::retry`; or go \
             without those nodes: `Models::activate` with `forced`"
        ))
        .with_value("label", label)
        .with_value("open", open)
        .with_value("dead", dead))
}

fn writer_open() -> Error {
    let waited_ms = WRITERS_PATIENCE.as_millis();
    let message = format!("a transaction that remembered something is still open after {waited_ms} ms");
    Error::new(codes::WRITER_OPEN, message)
}

/// Nodes that are looked at in one transaction: locks and snapshots are held for a few hundred milliseconds.
const CHUNK: i64 = 5_000;

/// Enqueues what the model lacks and has no job for, so that no node is stranded when it is asked. What is written from
/// now on has its job from the start: the model is in use.
async fn enqueue_missing(pool: &PgPool, target: &RegisteredModel, max_attempts: u32) -> Result<i64> {
    let subject = Subject {
        stage: Stage::Embed,
        queue: target.queue.clone(),
        model: target.label.clone(),
        namespace: None,
        since: None,
        forced: false,
        version: None,
    };
    let (mut run, _) = backfill::start(&mut *pool.acquire().await?, &subject).await?;
    let before = run.enqueued;
    while !run.is_finished() {
        run = backfill::advance(pool, run.id, &subject, CHUNK, max_attempts).await?;
        jobs::ping_queue(pool, &target.queue).await;
    }
    Ok(run.enqueued - before)
}

async fn build_index_on(connection: &mut PgConnection, model: &RegisteredModel) -> Result<bool> {
    // Tried again and again: a session that waits for the lock would keep the build from ending, which waits for
    // every older snapshot.
    loop {
        let ours: bool = sql!("select pg_try_advisory_lock(hashtext('htm.embedding_index'), :model)")
            .bind("model", model.id)?
            .fetch_scalar(&mut *connection)
            .await?;
        if ours {
            break;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let valid: Option<bool> = sql!("select indisvalid from pg_index where indexrelid = to_regclass(:index)")
        .bind("index", model.index())?
        .fetch_optional_scalar(&mut *connection)
        .await?;
    if valid == Some(true) {
        return Ok(false);
    }
    if valid == Some(false) {
        let sql = format!("drop index concurrently if exists {}", model.index());
        sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut *connection).await?;
    }
    let create: String = sql!("select htm.embedding_index(:model, 'concurrently')")
        .bind("model", model.id)?
        .fetch_scalar(&mut *connection)
        .await?;
    sqlx::raw_sql(AssertSqlSafe(create)).execute(&mut *connection).await?;
    Ok(true)
}
