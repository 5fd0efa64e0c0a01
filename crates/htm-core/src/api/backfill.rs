//! Backfill: jobs for memories that are older than a model or its prompt.
//!
//! A run walks the nodes by id and enqueues the missing jobs, behind every live job. Its position is in the database:
//! starting an interrupted run again continues it.

use std::time::Duration;

use chrono::{DateTime, Utc};
use sqlx::PgPool;

use crate::api::htm::Htm;
use crate::model::error::{Error, Result, codes};
use crate::model::jobs::Stage;
use crate::model::models::{not_ready, of_callers, retired, unknown};
use crate::store::backfill::{self, Range, Run, Subject};
use crate::store::embeddings::{self, ModelState};
use crate::store::{jobs, lifecycle};

/// The number of nodes in a transaction.
const CHUNK: u64 = 1_000;

/// The longest wait of a new run for transactions that began before its model was registered.
const WRITERS_PATIENCE: Duration = Duration::from_secs(30);

/// The jobs to enqueue.
#[derive(Clone, Debug)]
pub struct BackfillRequest {
    /// The stage.
    pub stage: Stage,
    /// The label of the embedding model; none: the active one. Tags have one model, the handle's.
    pub model: Option<String>,
    /// Only this namespace; none: all.
    pub namespace: Option<String>,
    /// Only nodes since this time.
    pub since: Option<DateTime<Utc>>,
    /// Also nodes whose stage is done.
    pub forced: bool,
    /// Only nodes that another version of the prompt or the rules, or another model, has tagged. Tags only.
    pub prompt_version: Option<String>,
    /// The most backfill jobs that wait in the queue, at least 1.
    pub max_queued: u64,
}

impl BackfillRequest {
    /// All missing jobs of a stage, with at most 100,000 jobs in the queue.
    pub fn new(stage: Stage) -> Self {
        Self {
            stage,
            model: None,
            namespace: None,
            since: None,
            forced: false,
            prompt_version: None,
            max_queued: 100_000,
        }
    }
}

/// A running backfill. Dropping it leaves everything in place.
#[derive(Debug)]
pub struct Backfill {
    pool: PgPool,
    subject: Subject,
    max_queued: u64,
    max_attempts: u32,
    run: Run,
    resumed: bool,
}

/// The result of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackfillStep {
    /// A chunk is enqueued; call again.
    Enqueued,
    /// The queue is full; call again later.
    QueueFull,
    /// All nodes are enqueued.
    Finished,
}

/// The states of the backfill jobs of a run's queue (and namespace).
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BackfillProgress {
    /// Open jobs.
    pub open: i64,
    /// Parked jobs: they wait for a budget or an operator.
    pub parked: i64,
    /// Dead letters.
    pub dead: i64,
}

impl Htm {
    /// Starts a run, or continues the unfinished one with the same request.
    ///
    /// # Errors
    /// `model_unknown`, `model_retired`, `model_not_ready` (no model is registered yet), `version_unfit` (embeddings
    /// have no prompt), or a database error.
    pub async fn start_backfill(&self, request: &BackfillRequest) -> Result<Backfill> {
        let subject = self.subject(request).await?;
        if subject.stage == Stage::Embed
            && !lifecycle::writers_end(self.shared_pool(), "htm.nodes", WRITERS_PATIENCE).await?
        {
            tracing::warn!(
                "a transaction that remembered something is open for long: what it wrote before the model was added \
                 is seen by the next backfill, or at the activation"
            );
        }
        let (run, is_new) = backfill::start(&mut *self.shared_pool().acquire().await?, &subject).await?;
        Ok(Backfill {
            pool: self.shared_pool().clone(),
            subject,
            max_queued: request.max_queued.max(1),
            max_attempts: self.settings().max_attempts,
            run,
            resumed: !is_new,
        })
    }

    /// Counts the jobs that a run would enqueue now. Writes nothing.
    ///
    /// # Errors
    /// As [`start_backfill`](Self::start_backfill).
    pub async fn count_backfill(&self, request: &BackfillRequest) -> Result<u64> {
        let subject = self.subject(request).await?;
        let mut tx = self.shared_pool().begin_with(backfill::BEGIN).await?;
        let (mut after, mut wanted) = (0, 0);
        loop {
            let range = Range { after, up_to: i64::MAX, limit: CHUNK as i64, count_only: true };
            let chunk = backfill::chunk_in_tx(&mut tx, 0, &subject, range, 1).await?;
            wanted += chunk.wanted as u64;
            match chunk.last {
                Some(last) if chunk.nodes == CHUNK as i64 => after = last,
                _ => return Ok(wanted),
            }
        }
    }

    async fn subject(&self, request: &BackfillRequest) -> Result<Subject> {
        match &request.namespace {
            Some(namespace) => drop(self.admit(namespace)?),
            None => self.admit_all()?,
        }
        if request.prompt_version.is_some() && request.stage == Stage::Embed {
            let message = format!("stage `{}` has no prompt that could have a version", request.stage);
            return Err(Error::new(codes::VERSION_UNFIT, message));
        }
        let (queue, model) = match request.stage {
            Stage::Tag => {
                let model = self.settings().tag_model.to_string();
                match &request.model {
                    Some(label) if *label != model => {
                        return Err(unknown(label, &model));
                    }
                    _ => (Stage::Tag.queue().to_owned(), model),
                }
            }
            Stage::Embed => {
                let models = embeddings::models(self.shared_pool()).await?;
                let active = || models.iter().find(|model| model.state == ModelState::Active);
                let model = match &request.model {
                    Some(label) => embeddings::by_label(&models, label)?,
                    None => active().ok_or_else(|| not_ready(&self.settings().embedding_model))?,
                };
                if !model.is_in_use() {
                    return Err(retired(&model.label));
                }
                let queue = model.queue.clone().ok_or_else(|| of_callers(&model.label))?;
                (queue, model.label.clone())
            }
        };
        Ok(Subject {
            stage: request.stage,
            queue,
            model,
            namespace: request.namespace.clone(),
            since: request.since,
            forced: request.forced || request.prompt_version.is_some(),
            version: request.prompt_version.clone(),
        })
    }
}

impl Backfill {
    /// Enqueues the next chunk, in a transaction of its own.
    ///
    /// # Errors
    /// A database error; then nothing of the chunk is enqueued.
    pub async fn step(&mut self) -> Result<BackfillStep> {
        let chunk = (self.max_queued / 10).clamp(1, CHUNK);
        let queued = backfill::count_queued(&self.pool, &self.subject.queue, self.max_queued).await?;
        if queued + chunk > self.max_queued {
            return Ok(BackfillStep::QueueFull);
        }
        self.run = backfill::advance(&self.pool, self.run.id, &self.subject, chunk as i64, self.max_attempts)
            .await?;
        jobs::ping_queue(&self.pool, &self.subject.queue).await;
        Ok(if self.run.is_finished() { BackfillStep::Finished } else { BackfillStep::Enqueued })
    }

    /// The states of the jobs, including those of earlier runs in the same queue.
    ///
    /// # Errors
    /// A database error.
    pub async fn progress(&self) -> Result<BackfillProgress> {
        let (open, parked, dead) =
            backfill::count_unfinished(&self.pool, &self.subject.queue, self.subject.namespace.as_deref())
                .await?;
        Ok(BackfillProgress { open, parked, dead })
    }

    /// The run's number.
    pub fn run(&self) -> i64 {
        self.run.id
    }

    /// Whether it continues an interrupted run.
    pub fn is_resumed(&self) -> bool {
        self.resumed
    }

    /// The queue of its jobs.
    pub fn queue(&self) -> &str {
        &self.subject.queue
    }

    /// The model of its jobs.
    pub fn model(&self) -> &str {
        &self.subject.model
    }

    /// Jobs enqueued since the run was first started.
    pub fn enqueued(&self) -> u64 {
        self.run.enqueued as u64
    }

    /// Its position: the id of the last node examined, and of the last node to examine.
    pub fn position(&self) -> (u64, u64) {
        (self.run.cursor_node as u64, self.run.last_node as u64)
    }
}
