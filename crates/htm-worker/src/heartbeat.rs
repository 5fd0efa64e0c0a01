//! Staying alive, and looking after those who did not: a task of its own, so that work never delays it.

use std::sync::Arc;
use std::time::Duration;

use htm_core::store::jobs::{self, RescueWait};
use htm_core::store::{queues, statistics, workers};
use sqlx::PgPool;
use tokio::time::{MissedTickBehavior, interval};

use crate::monitor::Monitor;
use crate::pings::Fleet;
use crate::verdict::Backoff;

/// How often the statistics of full text are looked after.
const STATISTICS: Duration = Duration::from_secs(10);

/// How often the workers of the queue are counted.
const FLEET: Duration = Duration::from_secs(10);

/// How often dead letters are looked at that nothing may need any more: seldom, for all of them are.
const DEAD_LETTERS: Duration = Duration::from_secs(3_600);

/// Rows of done jobs deleted in one statement.
const PRUNE: usize = 5_000;

/// What the heartbeat needs.
pub(crate) struct Heartbeat {
    pub(crate) pool: PgPool,
    pub(crate) queue: String,
    pub(crate) worker: String,
    pub(crate) detail: String,
    pub(crate) lease: Duration,
    pub(crate) sweep: Duration,
    /// How long the rows of done jobs are kept, and of dead letters that nothing needs.
    pub(crate) keep_done: Duration,
    /// How long the jobs of a lost worker wait.
    pub(crate) backoff: Backoff,
    pub(crate) fleet: Fleet,
    pub(crate) monitor: Arc<Monitor>,
}

impl Heartbeat {
    /// Renews the lease three times in its length, rescues lost jobs, prunes done ones, refreshes statistics; until it
    /// is dropped. All run side by side: a slow sweep does not hold up the renewal.
    pub(crate) async fn run(self) {
        tokio::join!(
            every(self.lease / 3, || async {
                let result = self.renew().await;
                self.monitor.vitals.heartbeat(&result);
                result
            }),
            every(self.sweep.mul_f64(0.9 + fastrand::f64() / 5.0), || self.rescue()),
            // Done jobs are in nobody's way for a while.
            every(self.sweep * 10, || self.prune()),
            every(DEAD_LETTERS, || self.prune_dead()),
            every(FLEET, || self.count_fleet()),
            every(STATISTICS, || async { statistics::refresh_due(&self.pool).await.map(drop) }),
        );
    }

    async fn renew(&self) -> htm_core::Result<()> {
        if !workers::heartbeat(&self.pool, &self.worker).await? {
            let lease_ms = self.lease.as_millis() as u64;
            workers::register(&self.pool, &self.queue, &self.worker, &self.detail, lease_ms).await?;
        }
        Ok(())
    }

    async fn rescue(&self) -> htm_core::Result<()> {
        let rescued = jobs::rescue(&self.pool, RescueWait { base: self.backoff.base, cap: self.backoff.cap }).await?;
        if rescued > 0 {
            tracing::warn!(rescued, "took back the jobs of lost workers");
        }
        Ok(())
    }

    async fn prune(&self) -> htm_core::Result<()> {
        while queues::prune(&self.pool, self.keep_done, PRUNE).await? == PRUNE {}
        Ok(())
    }

    async fn prune_dead(&self) -> htm_core::Result<()> {
        let pruned = queues::prune_dead(&self.pool, &self.queue, self.keep_done).await?;
        if pruned > 0 {
            tracing::info!(pruned, "deleted dead letters of texts that are gone or were done since");
        }
        Ok(())
    }

    async fn count_fleet(&self) -> htm_core::Result<()> {
        self.fleet.is_now(workers::count_alive(&self.pool, &self.queue).await?);
        Ok(())
    }
}

/// Does something now and then every `period`, counted from the end of the time before; what fails is logged.
async fn every<Fut>(period: Duration, work: impl Fn() -> Fut)
where
    Fut: Future<Output = htm_core::Result<()>>,
{
    let mut ticks = interval(period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        if let Err(error) = work().await {
            tracing::warn!(code = error.code(), %error, "a heartbeat or a sweep failed");
        }
    }
}
