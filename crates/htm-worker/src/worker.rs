//! A worker from its registration to its end.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use apalis_core::worker::builder::WorkerBuilder;
use htm_core::fault::Fault;
use htm_core::worker::claims::Claims;
use htm_core::worker::governor::Breaker;
use htm_core::worker::{jobs, statistics, workers};
use sqlx::PgPool;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use ulid::Ulid;

use crate::backend::BatchBackend;
use crate::batch::{Held, LeasedBatch};
use crate::call_size::CallSize;
use crate::calls::Caller;
use crate::claim::Claimer;
use crate::connections;
use crate::deadline::Deadline;
use crate::handler::Handler;
use crate::heartbeat::Heartbeat;
use crate::metrics::Outcome;
use crate::monitor::Monitor;
use crate::persist::persist;
use crate::pings::Fleet;
use crate::places::Places;
use crate::process::{Counts, Processor, Refused};
use crate::registration::Registration;
use crate::sightings::Sightings;
use crate::supervise;
use crate::verdict::Backoff;

/// Connections for the lease alone: while one that does not answer is given up, there is another.
const LEASE_CONNECTIONS: u32 = 2;

/// How long a worker that stops may take to give back what it holds, and to sign off: others do it when its lease is over.
const FAREWELL: Duration = Duration::from_secs(5);

/// How a worker works.
#[derive(Clone, Debug)]
pub struct Options {
    /// The program's name; the worker's identity is made of it, the host's process id and a part that is new at
    /// each start.
    pub program: String,
    /// Jobs a claim, and the most texts a provider call.
    pub batch: usize,
    /// The most tokens a provider call; a longer text goes alone.
    pub batch_tokens: u32,
    /// By when the provider's client gives a call up.
    pub call_deadline: Duration,
    /// When the fleet leaves a failing provider alone.
    pub breaker: Breaker,
    /// Batches at the provider; as many again may be held while their results are written. While the worker has jobs of
    /// a backfill, two more of live jobs may be at the provider, which overtake them.
    pub concurrency: usize,
    /// How long a worker may go unseen before its jobs are taken back.
    pub lease: Duration,
    /// How long an idle worker waits for a ping before it looks by itself.
    pub poll: Duration,
    /// How often lost jobs are looked for.
    pub sweep: Duration,
    /// After how long PostgreSQL ends a statement; a little later the worker gives up the wait for its answer. Zero: never.
    pub statement_timeout: Duration,
    /// How long the rows of done jobs are kept; their completions stay for ever.
    pub keep_done: Duration,
    /// Between the attempts of a job.
    pub backoff: Backoff,
    /// How long a job may be put off without charge (a rate limit, a refused key) before it is parked.
    pub patience: Duration,
    /// How long batches in flight may go on when the worker is told to stop.
    pub grace: Duration,
    /// Stop by itself when nothing is left.
    pub drain: bool,
    /// Where the worker shows what it does; none: nobody looks.
    pub monitor: Option<Arc<Monitor>>,
}

/// What a worker has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// Jobs brought to their end.
    pub done: u64,
    /// Attempts that failed.
    pub failed: u64,
    /// Jobs given back at the stop, without charge.
    pub released: usize,
}

/// Why a worker ended by itself.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// It could not be registered, or could not give back its jobs.
    #[error(transparent)]
    Htm(#[from] htm_core::Error),
    /// apalis' worker ended with an error.
    #[error("the worker's loop ended: {0}")]
    Loop(#[from] apalis_core::error::WorkerError),
    /// A task of the worker's own panicked.
    #[error("a task of the worker ended: {0}")]
    Task(#[from] tokio::task::JoinError),
    /// A task of the worker's own does not go on.
    #[error("{what}")]
    Stuck {
        /// Which, and for how long.
        what: String,
    },
}

/// Works until `stop` is cancelled (or, draining, until nothing is left), then gives back what it holds. It has
/// connections of its own, as many as `pool` may have and two for its lease.
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
    let result = run_on(work_pool.clone(), lease_pool.clone(), handler, options, stop).await;
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
        detail: format!("{} {} {}", options.program, env!("CARGO_PKG_VERSION"), model),
        lease: options.lease,
        held: held.clone(),
    });
    let deadline = Deadline::after(options.statement_timeout);
    // Its answer may be lost like any other's: the row is the same when it is written again.
    persist(deadline, || registration.register()).await?;
    monitor.metrics.started(&options.program, &model);
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
    // Whatever way this function ends, the tasks end with it.
    let mut background = JoinSet::new();
    let heartbeat = background.spawn(heartbeat.run());

    let counts = Arc::new(Counts::default());
    let (batches, receiver) = mpsc::channel(1);
    let claimer = Claimer {
        pool: pool.clone(),
        queue: queue.clone(),
        claims: Claims::new(&queue, &model, &worker),
        registration: registration.clone(),
        deadline,
        batch: options.batch,
        poll: options.poll,
        fleet,
        drain: options.drain,
        places: Places::new(options.concurrency, stop.clone()),
        held,
        monitor: monitor.clone(),
        stop: stop.clone(),
    };
    let claimer = background.spawn(claimer.run(batches));

    let processor = Arc::new(Processor {
        pool: pool.clone(),
        caller: Caller {
            pool: pool.clone(),
            handler: Arc::new(handler),
            worker: worker.clone(),
            size: CallSize::new(options.batch, options.call_deadline / 2),
            tokens: options.batch_tokens,
            burst: AtomicU32::new(u32::MAX),
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
                // Kept until the end is written, whatever happens inside: else its jobs would be given back before.
                let batch = Arc::new(batch);
                // A task of its own: apalis polls all handlers on one, and a panic ends only this batch.
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
            tracing::warn!("batches in flight did not end within the grace time; their jobs are given back, by this worker or, if the database refuses that, when its lease is over");
            Err(None)
        }
        failure = supervise::failure(&mut background, &monitor.vitals) => {
            tracing::error!(error = %failure, "the worker cannot go on");
            Err(Some(failure))
        }
    };
    // A claim that is under way is given up as well. It may be committed all the same: then others take its jobs back
    // when the lease is over.
    abort.cancel();
    claimer.abort();
    let (result, mut failure) = match ended {
        Ok(result) => (result, None),
        Err(failure) => (work.await, failure),
    };
    // Still registered until everything is given back: the heartbeat goes on to keep others from the jobs.
    let farewell = deadline.at_most(FAREWELL);
    let released = farewell.of(jobs::release_unheld(&pool, &worker, &[])).await;
    // Before the row goes: a heartbeat that finds it gone would put it back.
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
    let released = released?;
    monitor.metrics.ended(Outcome::Released, released);
    farewell.of(workers::deregister(&pool, &worker)).await?;
    result?;
    if options.drain {
        // Nobody may be left to do it later.
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
