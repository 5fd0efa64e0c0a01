//! The claimer. It claims a batch when jobs are due and the provider is free, or will be soon.

use std::sync::Arc;
use std::time::{Duration, Instant};

use htm_core::worker::claims::{Claims, Wanted};
use htm_core::worker::jobs::{self, Claimed, Lease};
use htm_core::worker::queues;
use sqlx::PgPool;
use tokio::sync::mpsc;
use tokio::time::timeout;
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

/// The longest time for which a suspect is waited for at its start and at its end, so that it is alone. A text that
/// crashes workers mostly does so at once; a long one takes minutes, and the queue must not stand still meanwhile.
const ALONE: Duration = Duration::from_secs(10);

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
        let (mut failures, mut is_crowded) = (0, false);
        loop {
            let room = stop.run_until_cancelled(async {
                tokio::select! {
                    biased;
                    slot = self.slots.room() => slot,
                    slot = self.slots.room_ahead(&pings, self.poll) => slot,
                }
            });
            let Some(Some(slot)) = monitor.vitals.while_waiting(room).await else { return };
            // Each of its statements has a deadline.
            match monitor.vitals.while_waiting(self.claim(&slot)).await {
                Ok(Some((lease, claimed))) => {
                    failures = 0;
                    tracing::debug!(jobs = claimed.len(), "claimed");
                    let batch = LeasedBatch::new(lease, claimed, self.held.clone(), slot);
                    let is_suspect = batch.is_suspect();
                    // Those that have outlasted one wait are not waited for again. This one may end soon.
                    is_crowded &= is_suspect;
                    if is_suspect {
                        let most = if is_crowded { Duration::ZERO } else { ALONE };
                        let others = stop.run_until_cancelled(timeout(most, self.slots.until_one()));
                        let Some(waited) = monitor.vitals.while_waiting(others).await else { return };
                        is_crowded = waited.is_err();
                    }
                    if batches.send(batch).await.is_err() {
                        return;
                    }
                    if is_suspect {
                        let end = stop.run_until_cancelled(timeout(ALONE, self.slots.until_unsuspected()));
                        if let Some(Err(_)) = monitor.vitals.while_waiting(end).await {
                            tracing::info!(
                                queue = self.queue,
                                "jobs of a lost worker take long; other jobs now run beside them"
                            );
                        }
                    }
                }
                // Another worker was first. The usual slots are still taken.
                Ok(None) if slot.wanted() == Wanted::Live => failures = 0,
                Ok(None) => {
                    failures = 0;
                    let may_be_suspects = slot.wanted() == Wanted::Unsuspected;
                    drop(slot);
                    if self.drain && monitor.vitals.while_waiting(self.is_drained()).await {
                        return;
                    }
                    let ping = stop.run_until_cancelled(async {
                        tokio::select! {
                            () = pings.next_within(self.poll) => {}
                            // The last jobs may be held by this worker.
                            () = self.slots.until_unsuspected(), if may_be_suspects => {}
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
            let released = self.deadline.of(jobs::release_unheld(&self.pool, worker, &held)).await?;
            self.monitor.metrics.ended(Outcome::Released, released);
            if released > 0 {
                tracing::info!(released, "released jobs that were claimed but not held");
            }
        }
        let began = Instant::now();
        let next = self.deadline.of(self.claims.next(&self.pool, self.batch, slot.wanted())).await?;
        if let Some((_, claimed)) = &next {
            self.monitor.metrics.claimed(claimed.len(), began.elapsed());
        }
        Ok(next)
    }

    /// Whether the queue is empty: no worker holds jobs, and none are due or waiting. Parked and paused jobs do not
    /// count.
    async fn is_drained(&self) -> bool {
        self.slots.are_free()
            && self.deadline.of(queues::is_drained(&self.pool, &self.queue)).await.unwrap_or(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_claimer_that_waits_for_the_database_lives() {
        // It accepts connections and says nothing.
        let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("postgres://htm@{}/htm?sslmode=disable", silent.local_addr().unwrap());
        let pool = PgPool::connect_lazy(&url).unwrap();
        let (queue, worker, lease) = ("htm.embed".to_owned(), "worker".to_owned(), Duration::from_secs(1));
        let monitor = Arc::new(Monitor::new(&queue));
        let held = Arc::new(Held::new(monitor.metrics.in_flight()));
        let stop = CancellationToken::new();
        monitor.vitals.registered(lease, stop.clone());
        let registration = Registration {
            pool: pool.clone(),
            queue: queue.clone(),
            worker,
            detail: String::new(),
            lease,
            held: held.clone(),
        };
        let claimer = Claimer {
            pool,
            claims: Claims::new(&queue, None, &registration.worker),
            queue,
            registration: Arc::new(registration),
            deadline: Deadline::LONGEST,
            batch: 1,
            poll: Duration::from_secs(600),
            fleet: Fleet::default(),
            drain: false,
            slots: Slots::new(1, stop.clone()),
            held,
            monitor: monitor.clone(),
            stop,
        };
        let (batches, _receiver) = mpsc::channel(1);
        let mut claiming = tokio::task::JoinSet::new();
        claiming.spawn(claimer.run(batches));
        // That of the claim, and that of the pings.
        let _connections = (silent.accept().await.unwrap(), silent.accept().await.unwrap());
        monitor.vitals.backdate(Duration::from_secs(61));
        assert!(monitor.vitals.live().is_err());
        let lives = async {
            while monitor.vitals.live().is_err() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), lives).await.expect("it takes its turns");
    }
}
