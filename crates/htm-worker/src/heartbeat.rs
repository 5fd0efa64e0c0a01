//! The heartbeat: lease renewal, rescue of lost jobs, and maintenance. It has a task of its own, so that work never
//! delays it.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use htm_core::Swept;
use htm_core::worker::jobs::{self, RescueWait};
use htm_core::worker::workers::{self, Unseen};
use htm_core::worker::{expiry, learning, operations, queues, statistics};
use sqlx::PgPool;
use tokio::sync::Mutex;

use crate::batch::Held;
use crate::deadline::Deadline;
use crate::lane::Lane;
use crate::metrics::Outcome;
use crate::monitor::Monitor;
use crate::outage;
use crate::pings::Fleet;
use crate::registration::Registration;
use crate::sightings::Sightings;
use crate::verdict::Backoff;

/// The interval between refreshes of the full-text search statistics.
const STATISTICS: Duration = Duration::from_secs(10);

/// The interval between looks for tables that have outgrown their statistics. In two seconds of a young database a few
/// thousand rows are written.
const GROWN: Duration = Duration::from_secs(2);

/// The interval between counts of the queue's workers.
const FLEET: Duration = Duration::from_secs(10);

/// The interval between prunings of obsolete dead letters. It is long, because the statement reads all dead letters.
const DEAD_LETTERS: Duration = Duration::from_secs(3_600);

/// The interval between sweeps of expired memories.
const EXPIRY: Duration = Duration::from_secs(30);

/// The interval between sweeps of the retention policies and of old operations. It is longer, because they read the old part of a namespace.
const RETENTION: Duration = Duration::from_secs(600);

/// The most rows of done jobs that one statement deletes.
const PRUNE: usize = 5_000;

/// The longest pause after a failed renewal. It is short, so that after an outage the lease is renewed before other
/// workers have looked twice.
const RENEW_AGAIN: Duration = Duration::from_secs(1);

/// The state of the heartbeat.
pub(crate) struct Heartbeat {
    pub(crate) pool: PgPool,
    pub(crate) registration: Arc<Registration>,
    pub(crate) deadline: Deadline,
    pub(crate) sweep: Duration,
    /// The time for which the rows of done jobs and of obsolete dead letters are kept.
    pub(crate) keep_done: Duration,
    /// The wait of a lost worker's jobs before the next attempt.
    pub(crate) backoff: Backoff,
    pub(crate) fleet: Fleet,
    pub(crate) held: Arc<Held>,
    pub(crate) monitor: Arc<Monitor>,
    /// Workers with jobs and an expired lease.
    pub(crate) unseen: Sightings<Unseen>,
    /// Claims under this worker's name that it does not hold.
    pub(crate) unheld: Sightings<(String, DateTime<Utc>)>,
}

impl Heartbeat {
    /// Renews the lease, rescues lost jobs, prunes done ones and refreshes statistics until it is dropped. The renewal
    /// waits for nothing else, and what is frequent not for what is rare and slow.
    pub(crate) async fn run(self) {
        tokio::join!(self.keep_renewing(), self.keep_sweeping());
    }

    async fn keep_sweeping(&self) {
        // First, so that of many workers that start at once few do what is for the fleet. The next count tells an error.
        self.count_fleet().await.ok();
        let start = Mutex::default();
        let [fleet, jobs, expired, rare, statistics] = std::array::from_fn(|_| Lane::new(&start));
        tokio::join!(
            fleet.every("lost jobs", self.sweep.mul_f64(0.9 + fastrand::f64() / 5.0), || self.sweep()),
            fleet.every("the count of workers", FLEET, || self.count_fleet()),
            // Done jobs cost little for a while.
            jobs.every("done jobs", self.sweep * 10, || self.in_turn(self.prune())),
            expired.every("expired memories", EXPIRY, || self.in_turn(self.sweep_expired())),
            rare.every("retention", RETENTION, || self.sweep_retention()),
            rare.every("old operations", RETENTION, || self
                .in_turn(Deadline::LONGEST.of(async { operations::sweep(&self.pool).await.map(drop) }))),
            rare.every("old recalls", RETENTION, || self
                .in_turn(Deadline::LONGEST.of(async { learning::sweep(&self.pool).await.map(drop) }))),
            rare.every("dead letters", DEAD_LETTERS, || self
                .in_turn(Deadline::LONGEST.of(self.prune_dead()))),
            statistics.every("statistics of words", STATISTICS, || self.in_turn(
                Deadline::LONGEST.of(async { statistics::refresh_due(&self.pool).await.map(drop) })
            )),
            self.analyze_grown(&statistics),
        );
    }

    /// Does what each worker would do for all of the fleet: of a large one, a few do it in each period.
    async fn in_turn(&self, work: impl Future<Output = htm_core::Result<()>>) -> htm_core::Result<()> {
        match self.fleet.takes_turn(fastrand::f64()) {
            true => work.await,
            false => Ok(()),
        }
    }

    async fn keep_renewing(&self) {
        // The registration was a renewal.
        let mut pause = self.registration.period();
        loop {
            tokio::time::sleep(pause).await;
            let result = self.registration.renew().await;
            self.monitor.vitals.heartbeat(&result);
            pause = match result {
                Ok(()) => {
                    outage::is_over();
                    self.registration.period()
                }
                Err(error) => {
                    outage::warn(&error, "the lease could not be renewed");
                    // Other workers could not renew either, so earlier sightings prove nothing.
                    self.unseen.forget();
                    self.registration.period().min(RENEW_AGAIN)
                }
            };
        }
    }

    async fn sweep(&self) -> htm_core::Result<()> {
        let rescued = self.rescue().await;
        if rescued.is_err() {
            self.unseen.forget();
        }
        self.give_back().await.and(rescued)
    }

    /// Rescues the jobs of workers that did not renew between two looks a third of their lease apart. After an outage
    /// or a jump of the database's clock every lease is expired at the first look. Live workers renew before the
    /// second.
    async fn rescue(&self) -> htm_core::Result<()> {
        // Whoever has seen one looks on.
        if self.unseen.is_empty() && !self.fleet.takes_turn(fastrand::f64()) {
            return Ok(());
        }
        let unseen = self.deadline.of(workers::unseen(&self.pool)).await?;
        let lost: Vec<Unseen> = self
            .unseen
            .look(Instant::now(), unseen)
            .into_iter()
            .filter(|(worker, age)| 3 * age.as_millis() >= worker.lease_ms as u128)
            .map(|(worker, _)| worker)
            .collect();
        if lost.is_empty() {
            return Ok(());
        }
        let wait = RescueWait { base: self.backoff.base, cap: self.backoff.cap };
        let rescued = self.deadline.of(jobs::rescue(&self.pool, &lost, wait)).await?;
        if rescued > 0 {
            tracing::warn!(rescued, "rescued the jobs of lost workers");
        }
        Ok(())
    }

    /// Releases jobs that are claimed under this worker's name but not held: their claim was committed after the worker
    /// had abandoned it. A claim in flight is younger than a statement's deadline and is left alone.
    async fn give_back(&self) -> htm_core::Result<()> {
        let worker = &self.registration.worker;
        let standing = self.deadline.of(jobs::standing(&self.pool, worker)).await?;
        // Read after the answer: a job that was claimed before it is held by now.
        let held: HashSet<String> = self.held.snapshot().into_iter().collect();
        let unheld: Vec<_> = self
            .unheld
            .look(Instant::now(), standing.into_iter().filter(|(job, _)| !held.contains(job)))
            .into_iter()
            .filter(|(_, age)| *age >= self.deadline.duration())
            .map(|(claim, _)| claim)
            .collect();
        if unheld.is_empty() {
            return Ok(());
        }
        let released = self.deadline.of(jobs::release(&self.pool, worker, &unheld)).await?;
        self.monitor.metrics.ended(Outcome::Released, released);
        tracing::warn!(released, "released jobs of an abandoned claim");
        Ok(())
    }

    async fn prune(&self) -> htm_core::Result<()> {
        while self.deadline.of(queues::prune(&self.pool, self.keep_done, PRUNE)).await? == PRUNE {}
        Ok(())
    }

    async fn sweep_expired(&self) -> htm_core::Result<()> {
        let mut swept = Swept::default();
        let result = Deadline::LONGEST.of(expiry::sweep_expired(&self.pool, &mut swept)).await;
        report(swept);
        result
    }

    /// Of all workers, one takes a policy in each period.
    async fn sweep_retention(&self) -> htm_core::Result<()> {
        let (mut swept, period) = (Swept::default(), RETENTION.mul_f64(0.9));
        let result = Deadline::LONGEST.of(expiry::sweep_retention(&self.pool, period, &mut swept)).await;
        report(swept);
        result
    }

    async fn prune_dead(&self) -> htm_core::Result<()> {
        let pruned = queues::prune_dead(&self.pool, &self.registration.queue, self.keep_done).await?;
        if pruned > 0 {
            tracing::info!(pruned, "deleted dead letters of texts that are gone or done since");
        }
        Ok(())
    }

    /// Not at the start: a short drain needs no statistics.
    async fn analyze_grown(&self, lane: &Lane<'_>) {
        tokio::time::sleep(GROWN).await;
        lane.every("statistics of tables", GROWN, || {
            self.in_turn(
                Deadline::LONGEST.of(async { statistics::analyze_grown(&self.pool).await.map(drop) }),
            )
        })
        .await;
    }

    async fn count_fleet(&self) -> htm_core::Result<()> {
        let alive = workers::count_alive(&self.pool, &self.registration.queue);
        self.fleet.is_now(self.deadline.of(alive).await?);
        Ok(())
    }
}

/// Logs what a sweep forgot and purged.
fn report(swept: Swept) {
    for row in swept.namespaces {
        tracing::info!(
            namespace = row.namespace,
            expired = row.expired,
            aged = row.aged,
            purged = row.purged.removed.nodes,
            "swept expired memories"
        );
    }
}
