//! Backfill: jobs for memories that are older than a model or its prompt.
//!
//! A run walks the nodes by id and enqueues the missing jobs, behind every live job. Its position is in the database:
//! starting an interrupted run again continues it.

use std::time::Duration;

use chrono::{DateTime, Utc};
use sqlx::PgPool;

use crate::api::htm::Htm;
use crate::model::error::{Error, Result, codes};
use crate::model::id::NodeId;
use crate::model::jobs::Stage;
use crate::model::memory::validate_time;
use crate::model::models::{ModelState, not_ready, of_callers, retired, unknown};
use crate::store::backfill::{self, Range, Run, Subject};
use crate::store::connections::Connections;
use crate::store::{embeddings, jobs, lifecycle};

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

/// A run of a backfill.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BackfillRun {
    /// Its number.
    pub id: i64,
    /// The stage of its jobs.
    pub stage: Stage,
    /// The model of its jobs.
    pub model: String,
    /// Their queue.
    pub queue: String,
    /// Only this namespace; none: all.
    pub namespace: Option<String>,
    /// Only nodes since this time.
    pub since: Option<DateTime<Utc>>,
    /// Also nodes whose stage is done.
    pub forced: bool,
    /// Only nodes that another version of the prompt or the rules, or another model, has tagged.
    pub prompt_version: Option<String>,
    /// The most backfill jobs that wait in the queue; none: a program goes on with the run, and no server.
    pub max_queued: Option<i64>,
    /// The last examined node.
    pub examined: NodeId,
    /// The last node to examine.
    pub last: NodeId,
    /// Jobs enqueued so far.
    pub enqueued: i64,
    /// When it was started.
    pub started_at: DateTime<Utc>,
    /// When all of its jobs were enqueued, or it was cancelled.
    pub finished_at: Option<DateTime<Utc>>,
    /// Whether it was cancelled, or its model retired.
    pub cancelled: bool,
}

impl From<Run> for BackfillRun {
    fn from(run: Run) -> Self {
        let Subject { stage, model, .. } = Subject::of(&run);
        Self {
            id: run.id,
            stage,
            model,
            queue: run.queue,
            namespace: run.namespace,
            since: run.since,
            forced: run.forced,
            prompt_version: run.version,
            max_queued: run.max_queued,
            examined: NodeId(run.cursor_node),
            last: NodeId(run.last_node),
            enqueued: run.enqueued,
            started_at: run.started_at,
            finished_at: run.finished_at,
            cancelled: run.cancelled,
        }
    }
}

impl Htm {
    /// Starts a run, or continues the unfinished one with the same request.
    ///
    /// # Errors
    /// `model_unknown`, `model_retired`, `model_not_ready` (no model is registered yet), `version_unfit` (embeddings
    /// have no prompt), `time_out_of_range`, or a database error.
    pub async fn start_backfill(&self, request: &BackfillRequest) -> Result<Backfill> {
        let subject = self.subject(request).await?;
        self.await_writers(&subject).await?;
        let (run, is_new) = backfill::start(&mut *self.shared_pool().acquire().await?, &subject).await?;
        Ok(Backfill {
            pool: self.shared_pool().clone(),
            subject,
            max_queued: request.max_queued.max(1),
            max_attempts: self.settings().attempts()?,
            run,
            resumed: !is_new,
        })
    }

    /// As [`start_backfill`](Self::start_backfill), for a server to go on with.
    ///
    /// # Errors
    /// The same.
    pub async fn submit_backfill(&self, request: &BackfillRequest) -> Result<BackfillRun> {
        let subject = self.subject(request).await?;
        self.await_writers(&subject).await?;
        let mut connection = self.shared_pool().acquire().await?;
        // A run of the same request may end between the two statements.
        for _ in 0..3 {
            let (run, _) = backfill::start(&mut connection, &subject).await?;
            if let Some(run) = backfill::serve(&mut connection, run.id, request.max_queued.max(1)).await? {
                return Ok(run.into());
            }
        }
        Err(Error::contended())
    }

    /// The last runs before the run `before`, the newest first. A handle within a wall sees those of its namespaces.
    ///
    /// # Errors
    /// A database error.
    pub async fn backfills(&self, before: Option<i64>, limit: u32) -> Result<Vec<BackfillRun>> {
        let runs = backfill::list(self.pool(), self.namespaces(), None, before, limit).await?;
        Ok(runs.into_iter().map(BackfillRun::from).collect())
    }

    /// A run, and the states of the jobs of its queue and namespace.
    ///
    /// # Errors
    /// `backfill_unknown`, or a database error.
    pub async fn backfill(&self, run: i64) -> Result<(BackfillRun, BackfillProgress)> {
        let found = backfill::list(self.pool(), self.namespaces(), Some(run), None, 1).await?;
        let unknown = || Error::new(codes::BACKFILL_UNKNOWN, format!("there is no backfill {run}"));
        let found = found.into_iter().next().ok_or_else(unknown)?;
        let of = found.namespace.as_deref();
        let (open, parked, dead) = backfill::count_unfinished(self.shared_pool(), &found.queue, of).await?;
        Ok((found.into(), BackfillProgress { open, parked, dead }))
    }

    /// Ends a run where it is, if it has not ended. The jobs that it has enqueued stay.
    ///
    /// # Errors
    /// As [`backfill`](Self::backfill).
    pub async fn cancel_backfill(&self, run: i64) -> Result<(BackfillRun, BackfillProgress)> {
        self.backfill(run).await?;
        backfill::cancel(self.pool(), run).await?;
        self.backfill(run).await
    }

    /// Claims up to 16 submitted runs that no other server goes on with, until a lease ends. A call before that renews
    /// them. If there are more runs, they take turns. Two servers at a run would share its chunks: no job is enqueued twice.
    ///
    /// # Errors
    /// `namespace_forbidden` for a handle within a wall, or a database error.
    pub async fn claim_backfills(&self, server: &str, lease: Duration) -> Result<Vec<Backfill>> {
        self.admit_all()?;
        let runs = backfill::claim(self.shared_pool(), server, lease).await?;
        let backfill = |run: Run| Backfill {
            pool: self.shared_pool().clone(),
            subject: Subject::of(&run),
            max_queued: run.max_queued.unwrap_or(1).max(1) as u64,
            max_attempts: self.settings().max_attempts,
            run,
            resumed: true,
        };
        Ok(runs.into_iter().map(backfill).collect())
    }

    /// Leaves the runs of a server to others at once.
    ///
    /// # Errors
    /// A database error; the leases end by themselves then.
    pub async fn release_backfills(&self, server: &str) -> Result<()> {
        backfill::release(self.shared_pool(), server).await
    }

    /// Waits for transactions that do not know of a new model yet, for half a minute.
    async fn await_writers(&self, subject: &Subject) -> Result<()> {
        if subject.stage == Stage::Embed
            && !lifecycle::writers_end(self.shared_pool(), "htm.nodes", WRITERS_PATIENCE).await?
        {
            tracing::warn!(
                "a transaction that remembered something is open for long: what it wrote before the model was added \
                 is seen by the next backfill, or at the activation"
            );
        }
        Ok(())
    }

    /// Counts the jobs that a run would enqueue now. Writes nothing.
    ///
    /// # Errors
    /// As [`start_backfill`](Self::start_backfill).
    pub async fn count_backfill(&self, request: &BackfillRequest) -> Result<u64> {
        let subject = self.subject(request).await?;
        let mut tx = Connections::begin_with(self.shared_pool(), backfill::BEGIN).await?;
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
        request.since.map_or(Ok(()), validate_time)?;
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
            self.run = backfill::read(&self.pool, self.run.id).await?;
            return Ok(if self.run.is_finished() { BackfillStep::Finished } else { BackfillStep::QueueFull });
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

    /// Whether somebody has cancelled the run: then [`BackfillStep::Finished`] does not say that all nodes are enqueued.
    pub fn is_cancelled(&self) -> bool {
        self.run.cancelled
    }

    /// The run's number.
    pub fn run(&self) -> i64 {
        self.run.id
    }

    /// Whether it continues an interrupted run.
    pub fn is_resumed(&self) -> bool {
        self.resumed
    }

    /// The stage of its jobs.
    pub fn stage(&self) -> Stage {
        self.subject.stage
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
