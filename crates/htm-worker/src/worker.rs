//! The life of a worker, from its registration to its end.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use apalis_core::worker::builder::WorkerBuilder;
use htm_core::fault::Fault;
use htm_core::worker::claims::Claims;
use htm_core::worker::governor::Breaker;
use htm_core::worker::{jobs, statistics, switches, workers};
use sqlx::PgPool;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use ulid::Ulid;

use crate::backend::BatchBackend;
use crate::batch::{Held, LeasedBatch};
use crate::call_size::CallSize;
use crate::calls::Dispatcher;
use crate::claim::Claimer;
use crate::connections;
use crate::deadline::Deadline;
use crate::handler::Handler;
use crate::heartbeat::Heartbeat;
use crate::metrics::Outcome;
use crate::monitor::Monitor;
use crate::persist::persist;
use crate::pings::Fleet;
use crate::process::{Counts, Processor, Refused};
use crate::proof::Proof;
use crate::registration::Registration;
use crate::sightings::Sightings;
use crate::slots::Slots;
use crate::supervise;
use crate::verdict::Backoff;

/// Connections for the lease alone. The second serves while a silent first one is being abandoned.
const LEASE_CONNECTIONS: u32 = 2;

/// The time limit of a stopping worker to release its jobs and to deregister. After that, other workers rescue the jobs
/// when the lease expires.
const FAREWELL: Duration = Duration::from_secs(5);

/// The time that a claim in flight has to end before a stopping worker releases its jobs.
const CLAIM_IN_FLIGHT: Duration = Duration::from_secs(1);

/// The options of a worker.
#[derive(Clone, Debug)]
pub struct Options {
    /// The program's name. The worker's identity is this name, the process id and a part that is new at each start.
    pub program: String,
    /// The most jobs per claim and texts per provider call.
    pub batch: usize,
    /// The most tokens per provider call. A longer text goes alone.
    pub batch_tokens: u32,
    /// The provider client's time limit of a call, or that of an item's work without a provider.
    pub call_deadline: Duration,
    /// The settings of the fleet's breaker for a failing provider.
    pub breaker: Breaker,
    /// The most batches at the provider. As many again may be held while their results are written. During a backfill
    /// two more batches of live jobs may be at the provider.
    pub concurrency: usize,
    /// The time for which a worker may go unseen before its jobs are rescued.
    pub lease: Duration,
    /// The time that an idle worker waits for a ping before it looks for jobs.
    pub poll: Duration,
    /// The time between two looks for lost jobs. More than zero.
    pub sweep: Duration,
    /// PostgreSQL's statement timeout. The worker abandons a statement a little later. Zero means no timeout.
    pub statement_timeout: Duration,
    /// The time for which the rows of done jobs are kept. Their completions stay for ever.
    pub keep_done: Duration,
    /// The backoff between the attempts of a job.
    pub backoff: Backoff,
    /// The longest time for which a job may be deferred (by a rate limit, a rejected key) before it is parked.
    pub patience: Duration,
    /// The time limit of batches in flight after a stop.
    pub grace: Duration,
    /// Whether to stop when the queue is empty.
    pub drain: bool,
    /// Receives the worker's metrics and vital signs.
    pub monitor: Option<Arc<Monitor>>,
}

/// A worker's totals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Jobs that are done.
    pub done: u64,
    /// Attempts that failed.
    pub failed: u64,
    /// Jobs released at the stop. This did not count as an attempt.
    pub released: usize,
}

/// The reason why a worker ended by itself.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// It could not register, or could not release its jobs.
    #[error(transparent)]
    Htm(#[from] htm_core::Error),
    /// apalis' worker ended with an error.
    #[error("the worker's loop ended: {0}")]
    Loop(#[from] apalis_core::error::WorkerError),
    /// One of the worker's tasks panicked.
    #[error("a task of the worker ended: {0}")]
    Task(#[from] tokio::task::JoinError),
    /// One of the worker's tasks is stuck.
    #[error("{what}")]
    Stuck {
        /// The task, and the time since its last turn.
        what: String,
    },
}

/// Runs a worker until `stop` is cancelled or, when draining, until the queue is empty. Then releases its jobs. The
/// worker opens connections of its own: as many as `pool` may have, and two for its lease.
///
/// # Errors
/// [`WorkerError`]. Errors of a provider and passing errors of the database do not end a worker.
pub async fn run<H: Handler>(
    pool: PgPool,
    handler: H,
    options: Options,
    stop: CancellationToken,
) -> Result<Report, WorkerError> {
    let work_pool = connections::own_pool(&pool, pool.options().get_max_connections());
    let lease_pool = connections::own_pool(&pool, LEASE_CONNECTIONS);
    let result = tokio::select! {
        result = run_on(work_pool.clone(), lease_pool.clone(), handler, options, stop) => result,
        never = switches::tie([&work_pool, &lease_pool], &pool) => match never {},
    };
    tokio::join!(connections::close(&work_pool), connections::close(&lease_pool));
    result
}

async fn run_on<H: Handler>(
    pool: PgPool,
    lease_pool: PgPool,
    handler: H,
    options: Options,
    stop: CancellationToken,
) -> Result<Report, WorkerError> {
    let (queue, model) = (handler.queue(), handler.model());
    let monitor = options.monitor.unwrap_or_else(|| Arc::new(Monitor::new(&queue)));
    let held = Arc::new(Held::new(monitor.metrics.in_flight()));
    let worker = format!("{}-{}-{}", options.program, std::process::id(), Ulid::new());
    let registration = Arc::new(Registration {
        pool: lease_pool,
        queue: queue.clone(),
        worker: worker.clone(),
        detail: Registration::detail(&options.program, model.as_deref()),
        lease: options.lease,
        held: held.clone(),
    });
    let deadline = Deadline::after(options.statement_timeout);
    // Retried, since writing the row twice gives the same row.
    let registered = stop.run_until_cancelled(persist(deadline, || registration.register())).await;
    if registered.transpose()?.is_none() {
        // The abandoned statement may have written the row.
        deadline.at_most(FAREWELL).of(workers::deregister(&pool, &worker)).await?;
        return Ok(Report::default());
    }
    monitor.metrics.started(&options.program, model.as_deref());
    monitor.vitals.registered(options.lease, stop.clone());
    tracing::info!(worker, queue, model, batch = options.batch, "worker started");

    let fleet = Fleet::default();
    let heartbeat = Heartbeat {
        pool: pool.clone(),
        registration: registration.clone(),
        deadline,
        sweep: options.sweep,
        keep_done: options.keep_done,
        backoff: options.backoff,
        fleet: fleet.clone(),
        held: held.clone(),
        monitor: monitor.clone(),
        unseen: Sightings::default(),
        unheld: Sightings::default(),
    };
    // Dropped with this function, which ends the tasks.
    let mut background = JoinSet::new();
    let heartbeat = background.spawn(heartbeat.run());

    let counts = Arc::new(Counts::default());
    let (batches, receiver) = mpsc::channel(1);
    let claimer = Claimer {
        pool: pool.clone(),
        queue: queue.clone(),
        claims: Claims::new(&queue, model.as_deref(), &worker),
        registration: registration.clone(),
        deadline,
        batch: options.batch,
        poll: options.poll,
        fleet,
        drain: options.drain,
        slots: Slots::new(options.concurrency, stop.clone()),
        held,
        monitor: monitor.clone(),
        stop: stop.clone(),
    };
    let claimer = background.spawn(claimer.run(batches));

    let processor = Arc::new(Processor {
        pool: pool.clone(),
        dispatcher: Dispatcher {
            pool: pool.clone(),
            handler: Arc::new(handler),
            worker: worker.clone(),
            size: CallSize::new(options.batch, options.call_deadline / 2),
            tokens: options.batch_tokens,
            burst: AtomicU32::new(u32::MAX),
            proof: Proof::default(),
            deadline: options.call_deadline,
            answer: deadline,
            breaker: options.breaker,
            backoff: options.backoff,
            monitor: monitor.clone(),
        },
        backoff: options.backoff,
        patience: options.patience,
        answer: deadline,
        counts: counts.clone(),
        monitor: monitor.clone(),
        refused: Refused::default(),
    });
    let abort = CancellationToken::new();
    let handle = {
        let abort = abort.clone();
        move |batch: LeasedBatch| {
            let processor = processor.clone();
            let abort = abort.clone();
            async move {
                // Kept until the end is written, also after a panic. Dropped earlier, its jobs would be released.
                let batch = Arc::new(batch);
                // A task of its own: apalis polls all handlers on one task, and a panic must end only this batch.
                let task = tokio::spawn({
                    let (processor, batch) = (processor.clone(), batch.clone());
                    async move {
                        abort.run_until_cancelled(processor.process(&batch)).await;
                    }
                });
                if let Err(panic) = task.await {
                    processor.failed(&batch, &format!("the worker panicked: {panic}"), Fault::Bug).await;
                }
                Ok::<(), Infallible>(())
            }
        }
    };
    let work = WorkerBuilder::new(worker.as_str()).backend(BatchBackend::new(receiver)).build(handle).run();
    tokio::pin!(work);
    let ended = tokio::select! {
        result = &mut work => Ok(result),
        () = async { stop.cancelled().await; tokio::time::sleep(options.grace).await } => {
            tracing::warn!("batches in flight did not end within the grace time; their jobs are released now or, if the database fails, rescued when the lease expires");
            Err(None)
        }
        failure = supervise::failure(&mut background, &monitor.vitals) => {
            tracing::error!(error = %failure, "the worker cannot go on");
            Err(Some(failure))
        }
    };
    abort.cancel();
    let (result, mut failure) = match ended {
        Ok(result) => (result, None),
        Err(None) => {
            // A claim that is committed after the release would take the released jobs again.
            let ended = tokio::time::timeout(CLAIM_IN_FLIGHT, &mut work).await;
            claimer.abort();
            let result = match ended {
                Ok(result) => result,
                Err(_) => work.await,
            };
            (result, None)
        }
        Err(failure) => {
            claimer.abort();
            (work.await, failure)
        }
    };
    // The worker stays registered until its jobs are released: the heartbeat goes on, so that no other worker rescues
    // them.
    let farewell = deadline.at_most(FAREWELL);
    let released = farewell.of(jobs::release_unheld(&pool, &worker, &[])).await;
    // The heartbeat ends before the row is deleted. Otherwise it would write the row again.
    heartbeat.abort();
    while let Some(ended) = background.join_next().await {
        if let Err(panic) = ended
            && panic.is_panic()
        {
            failure.get_or_insert(panic.into());
        }
    }
    if let Some(failure) = failure {
        return Err(failure);
    }
    let released = released? + farewell.of(leave(&pool, &worker)).await?;
    monitor.metrics.ended(Outcome::Released, released);
    result?;
    if options.drain {
        // There may be no worker left to do it later.
        Deadline::LONGEST.of(statistics::refresh_due(&pool)).await?;
    }
    let report = Report {
        done: counts.done.load(Ordering::Relaxed),
        failed: counts.failed.load(Ordering::Relaxed),
        released,
    };
    tracing::info!(worker, done = report.done, failed = report.failed, released, "worker stopped");
    Ok(report)
}

/// Removes a worker that has released its jobs. The claim that was in flight may have been committed since: its jobs are
/// released too. Returns how many.
async fn leave(pool: &PgPool, worker: &str) -> htm_core::Result<usize> {
    let mut released = 0;
    while !workers::deregister(pool, worker).await? {
        released += jobs::release_unheld(pool, worker, &[]).await?;
    }
    Ok(released)
}
