//! The claimer. It claims a batch when jobs are due and the provider is free, or will be soon.

use std::sync::Arc;
use std::time::{Duration, Instant};

use htm_core::worker::claims::{Claims, Wanted};
use htm_core::worker::jobs::{self, Claimed, Lease};
use htm_core::worker::queues;
use sqlx::PgPool;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::batch::{Held, LeasedBatch};
use crate::deadline::Deadline;
use crate::metrics::Outcome;
use crate::monitor::Monitor;
use crate::outage;
use crate::pings::{Fleet, Pings};
use crate::registration::Registration;
use crate::slots::{Slot, Slots};
use crate::verdict::Backoff;

/// The claimer's backoff after database errors.
const RECONNECT: Backoff = Backoff { base: Duration::from_millis(100), cap: Duration::from_secs(5) };

/// Claims jobs until it is stopped or, when draining, until the queue is empty.
pub(crate) struct Claimer {
    pub(crate) pool: PgPool,
    pub(crate) queue: String,
    pub(crate) claims: Claims,
    pub(crate) registration: Arc<Registration>,
    pub(crate) deadline: Deadline,
    pub(crate) batch: usize,
    pub(crate) poll: Duration,
    pub(crate) fleet: Fleet,
    pub(crate) drain: bool,
    pub(crate) slots: Slots,
    pub(crate) held: Arc<Held>,
    pub(crate) monitor: Arc<Monitor>,
    pub(crate) stop: CancellationToken,
}

impl Claimer {
    /// Claims batches and sends them. The worker ends when this returns and drops the sender.
    ///
    /// A stop interrupts waits, never a claim. A cancelled claim may still be committed and would leave jobs under the
    /// name of a worker that is gone.
    pub(crate) async fn run(mut self, batches: mpsc::Sender<LeasedBatch>) {
        let stop = self.stop.clone();
        let monitor = self.monitor.clone();
        let pings = Pings::listen(self.pool.clone(), self.queue.clone(), self.poll, self.fleet.clone());
        let mut failures = 0;
        loop {
            let room = stop.run_until_cancelled(async {
                tokio::select! {
                    biased;
                    slot = self.slots.room() => slot,
                    slot = self.slots.room_ahead(&pings, self.poll) => slot,
                }
            });
            let Some(Some(slot)) = monitor.vitals.while_waiting(room).await else { return };
            match self.claim(&slot).await {
                Ok(Some((lease, claimed))) => {
                    failures = 0;
                    tracing::debug!(jobs = claimed.len(), "claimed");
                    let batch = LeasedBatch::new(lease, claimed, self.held.clone(), slot);
                    if batch.is_suspect() {
                        let others = stop.run_until_cancelled(self.slots.others());
                        let Some(Some(others)) = monitor.vitals.while_waiting(others).await else { return };
                        batch.is_alone(others);
                    }
                    if batches.send(batch).await.is_err() {
                        return;
                    }
                }
                // Another worker was first. The usual slots are still taken.
                Ok(None) if slot.is_ahead() => failures = 0,
                Ok(None) => {
                    failures = 0;
                    drop(slot);
                    if self.drain && self.is_drained().await {
                        return;
                    }
                    let ping = stop.run_until_cancelled(async {
                        tokio::select! {
                            () = pings.next_within(self.poll) => {}
                            // The last jobs may be held by this worker.
                            () = self.slots.until_free(), if self.drain && !self.slots.are_free() => {}
                        }
                    });
                    monitor.vitals.while_waiting(ping).await;
                }
                Err(error) => {
                    failures += 1;
                    // The claim may have been committed even if its answer was lost.
                    self.held.leave_behind();
                    outage::warn(&error, "the database does not answer a claim");
                    let pause = RECONNECT.delay(failures, 0.5 + fastrand::f64() / 2.0);
                    stop.run_until_cancelled(tokio::time::sleep(pause)).await;
                }
            }
        }
    }

    async fn claim(&mut self, slot: &Slot) -> htm_core::Result<Option<(Lease, Vec<Claimed>)>> {
        let worker = &self.registration.worker;
        if self.held.take_left_behind() {
            // After an outage the lease is renewed first: other workers will soon check it.
            self.registration.renew().await?;
            let held = self.held.snapshot();
            let released = self.in_time(jobs::release_unheld(&self.pool, worker, &held)).await?;
            self.monitor.metrics.ended(Outcome::Released, released);
            if released > 0 {
                tracing::info!(released, "released jobs that were claimed but not held");
            }
        }
        let wanted = if slot.is_ahead() { Wanted::Live } else { Wanted::Any };
        self.monitor.vitals.claimer_turned();
        let began = Instant::now();
        let next = self.deadline.of(self.claims.next(&self.pool, self.batch, wanted)).await?;
        if let Some((_, claimed)) = &next {
            self.monitor.metrics.claimed(claimed.len(), began.elapsed());
        }
        Ok(next)
    }

    /// Runs a statement within the deadline and counts it as a turn of the claimer.
    async fn in_time<T>(&self, statement: impl Future<Output = htm_core::Result<T>>) -> htm_core::Result<T> {
        self.monitor.vitals.claimer_turned();
        self.deadline.of(statement).await
    }

    /// Whether the queue is empty: no worker holds jobs, and none are due or waiting. Parked and paused jobs do not
    /// count.
    async fn is_drained(&self) -> bool {
        self.slots.are_free()
            && self.in_time(queues::is_drained(&self.pool, &self.queue)).await.unwrap_or(false)
    }
}
