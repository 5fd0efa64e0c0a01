//! Claiming: a batch whenever the provider is free for it, or soon will be, and jobs are due.

use std::sync::Arc;
use std::time::Duration;

use htm_core::store::jobs::{self, PING_CHANNEL};
use htm_core::store::queues;
use sqlx::PgPool;
use sqlx::postgres::{PgListener, PgPoolOptions};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio_util::sync::CancellationToken;

use crate::batch::{Held, LeasedBatch};
use crate::metrics::Outcome;
use crate::monitor::Monitor;
use crate::turns::{Seat, Turns};
use crate::verdict::Backoff;

/// How long the claimer waits after database errors, at most.
const RECONNECT: Backoff = Backoff { base: Duration::from_millis(100), cap: Duration::from_secs(5) };

/// Claims until it is told to stop or, when draining, until nothing is left.
pub(crate) struct Claimer {
    pub(crate) pool: PgPool,
    pub(crate) queue: String,
    pub(crate) model: String,
    pub(crate) worker: String,
    pub(crate) batch: usize,
    pub(crate) poll: Duration,
    pub(crate) drain: bool,
    pub(crate) places: Places,
    pub(crate) held: Arc<Held>,
    pub(crate) monitor: Arc<Monitor>,
    pub(crate) stop: CancellationToken,
}

impl Claimer {
    /// Sends batches until the end; dropping the sender ends the worker.
    ///
    /// A stop interrupts the waits, never a claim: one that is cancelled on its way may still be committed, and would
    /// leave jobs in the name of a worker that is gone.
    pub(crate) async fn run(self, batches: mpsc::Sender<LeasedBatch>) {
        let stop = self.stop.clone();
        let monitor = self.monitor.clone();
        let mut pings = Pings::new(self.pool.clone());
        let mut failures = 0;
        loop {
            let room = stop.run_until_cancelled(self.places.room());
            let Some(Some((place, seat))) = monitor.vitals.while_waiting(room).await else { return };
            match self.claim().await {
                Ok(Some((lease, claimed))) => {
                    failures = 0;
                    tracing::debug!(jobs = claimed.len(), "claimed");
                    monitor.metrics.claimed(claimed.len());
                    let batch = LeasedBatch::new(lease, claimed, self.held.clone(), place, seat);
                    if batches.send(batch).await.is_err() {
                        return;
                    }
                }
                Ok(None) => {
                    failures = 0;
                    drop((place, seat));
                    if self.drain && self.is_drained().await {
                        return;
                    }
                    let ping = stop.run_until_cancelled(async {
                        tokio::select! {
                            () = pings.wait(self.poll) => {}
                            // What is left may be in this worker's own hands.
                            () = self.places.until_free(), if self.drain && !self.places.are_free() => {}
                        }
                    });
                    monitor.vitals.while_waiting(ping).await;
                }
                Err(error) => {
                    failures += 1;
                    // The claim may have been committed although its answer was lost.
                    self.held.leave_behind();
                    tracing::warn!(code = error.code(), %error, failures, "the database does not answer a claim");
                    let pause = RECONNECT.delay(failures, 0.5 + fastrand::f64() / 2.0);
                    stop.run_until_cancelled(tokio::time::sleep(pause)).await;
                }
            }
        }
    }

    async fn claim(&self) -> htm_core::Result<Option<(jobs::Lease, Vec<jobs::Claimed>)>> {
        if self.held.take_left_behind() {
            let released = jobs::release_unheld(&self.pool, &self.worker, &self.held.snapshot()).await?;
            self.monitor.metrics.ended(Outcome::Released, released);
            if released > 0 {
                tracing::info!(released, "gave back jobs that stood in this worker's name");
            }
        }
        jobs::claim(&self.pool, &self.queue, &self.model, &self.worker, self.batch).await
    }

    /// Nothing is due: neither here nor elsewhere, neither now nor later.
    async fn is_drained(&self) -> bool {
        self.places.are_free() && queues::is_drained(&self.pool, &self.queue).await.unwrap_or(false)
    }
}

/// Room for batches: a turn at the provider, and a place until the end. There are more places than turns: while the
/// results of a batch are written, the provider works on the next. A database that is slower than the provider bounds
/// what waits for it.
pub(crate) struct Places {
    all: Arc<Semaphore>,
    held: usize,
    turns: Arc<Turns>,
}

impl Places {
    pub(crate) fn new(concurrency: usize, stop: CancellationToken) -> Self {
        let held = 2 * concurrency;
        Self { all: Arc::new(Semaphore::new(held)), held, turns: Arc::new(Turns::new(concurrency, stop)) }
    }

    /// None would mean that somebody has closed them; nobody does.
    async fn room(&self) -> Option<(OwnedSemaphorePermit, Seat)> {
        let place = self.all.clone().acquire_owned().await.ok()?;
        Some((place, self.turns.soon().await))
    }

    fn are_free(&self) -> bool {
        self.all.available_permits() == self.held
    }

    async fn until_free(&self) {
        // Closed is as free as can be.
        self.all.acquire_many(self.held as u32).await.ok();
    }
}

/// Waits for a ping, but never longer than the poll interval: a lost ping costs time, not work.
struct Pings {
    pool: PgPool,
    listener: Option<PgListener>,
}

impl Pings {
    fn new(pool: PgPool) -> Self {
        Self { pool, listener: None }
    }

    async fn wait(&mut self, poll: Duration) {
        if self.listener.is_none() {
            self.listener = self.listen().await.ok();
            // What was written before the LISTEN has sent its ping already: look once more at once.
            if self.listener.is_some() {
                return;
            }
        }
        // Workers of a fleet should not poll in step.
        let poll = poll.mul_f64(0.9 + fastrand::f64() / 10.0);
        let Some(listener) = &mut self.listener else { return tokio::time::sleep(poll).await };
        match tokio::time::timeout(poll, listener.try_recv()).await {
            // The connection was lost: listen again at the next turn.
            Ok(Ok(None) | Err(_)) => self.listener = None,
            Ok(Ok(Some(_))) => {
                // One look serves all pings that have come so far.
                while listener.next_buffered().is_some() {}
            }
            Err(_elapsed) => {}
        }
    }

    async fn listen(&self) -> Result<PgListener, sqlx::Error> {
        // A connection of its own: the pool's are for work, and it may have few.
        let options = self.pool.connect_options().as_ref().clone();
        let own = PgPoolOptions::new().max_connections(1).connect_with(options).await?;
        let mut listener = PgListener::connect_with(&own).await?;
        listener.listen(PING_CHANNEL).await?;
        Ok(listener)
    }
}
