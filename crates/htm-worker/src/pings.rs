//! Pings: somebody has written jobs.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use sqlx::PgPool;
use sqlx::postgres::{PgListener, PgPoolOptions};
use tokio::sync::Notify;

/// How long nothing may come before the connection is opened anew.
const QUIET: Duration = Duration::from_secs(60);

/// Listens for as long as it lives. A ping that comes while nobody waits is kept; many are one.
pub(crate) struct Pings {
    came: Arc<Notify>,
    fleet: Fleet,
    listener: tokio::task::JoinHandle<()>,
}

impl Pings {
    /// To the pings of one queue. A connection that is lost is opened again; while it cannot be, it is tried every `poll`,
    /// or every second.
    pub(crate) fn listen(pool: PgPool, queue: String, poll: Duration, fleet: Fleet) -> Self {
        let came = Arc::new(Notify::new());
        let listener = tokio::spawn(pass_on(pool, queue, poll, came.clone()));
        Self { came, fleet, listener }
    }

    /// Waits for a ping, but never longer than the poll interval: a lost ping costs time, not work.
    pub(crate) async fn next_within(&self, poll: Duration) {
        // Workers of a fleet should not poll in step.
        let poll = poll.mul_f64(0.9 + fastrand::f64() / 10.0);
        let ping = async {
            self.came.notified().await;
            tokio::time::sleep(self.fleet.delay(fastrand::f64())).await;
        };
        tokio::time::timeout(poll, ping).await.ok();
    }
}

impl Drop for Pings {
    fn drop(&mut self) {
        self.listener.abort();
    }
}

/// How many workers serve the queue, as far as this one knows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fleet(Arc<AtomicUsize>);

/// How much longer the longest delay is with each further worker.
const SPREAD: Duration = Duration::from_millis(10);

impl Fleet {
    pub(crate) fn is_now(&self, workers: usize) {
        self.0.store(workers, Ordering::Relaxed);
    }

    /// How long a worker waits after a ping, by `jitter` from 0 to 1. The first of a fleet that is idle claims after 10 ms,
    /// however many there are; those that come after find what is left. So the fleet claims 200 times a second at most,
    /// not each time and each worker.
    fn delay(&self, jitter: f64) -> Duration {
        let others = self.0.load(Ordering::Relaxed).saturating_sub(1);
        (SPREAD * others.min(1_000) as u32).mul_f64(jitter)
    }
}

async fn pass_on(pool: PgPool, queue: String, poll: Duration, came: Arc<Notify>) {
    loop {
        let Ok(mut listener) = connect(&pool, &queue).await else {
            tokio::time::sleep(poll.min(Duration::from_secs(1))).await;
            continue;
        };
        // What was written before the LISTEN has sent its ping already: look once more at once.
        came.notify_one();
        // None: the connection was lost. Or nothing comes: it is opened anew, in case its other end is gone without a word.
        while let Ok(Ok(Some(_))) = tokio::time::timeout(QUIET, listener.try_recv()).await {
            came.notify_one();
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

async fn connect(pool: &PgPool, queue: &str) -> Result<PgListener, sqlx::Error> {
    // A connection of its own: the pool's are for work, and it may have few.
    let options = pool.connect_options().as_ref().clone();
    let own = PgPoolOptions::new().max_connections(1).connect_with(options).await?;
    let mut listener = PgListener::connect_with(&own).await?;
    listener.listen(queue).await?;
    Ok(listener)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fleet_of_any_size_claims_as_often_as_a_small_one_while_pings_come() {
        let fleet = Fleet::default();
        assert_eq!(fleet.delay(1.0), Duration::ZERO);
        fleet.is_now(1);
        assert_eq!(fleet.delay(1.0), Duration::ZERO);
        for workers in [2, 10, 100, 1_000] {
            fleet.is_now(workers);
            // Each claims once in its mean delay.
            let claims_a_second = workers as f64 / fleet.delay(0.5).as_secs_f64();
            assert!(claims_a_second <= 400.0, "{workers} workers: {claims_a_second}");
            // The least of as many random delays, on the average.
            let pickup = fleet.delay(1.0 / (workers as f64 + 1.0));
            assert!(pickup <= SPREAD, "{workers} workers: {pickup:?}");
        }
    }
}
