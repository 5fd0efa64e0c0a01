//! Pings: notifications of new jobs.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use sqlx::PgPool;
use sqlx::postgres::{PgListener, PgPoolOptions};
use tokio::sync::Notify;

/// The longest silence before the connection is replaced.
const QUIET: Duration = Duration::from_secs(60);

/// Listens until it is dropped. Pings between two waits are kept, as one.
pub(crate) struct Pings {
    came: Arc<Notify>,
    fleet: Fleet,
    listener: tokio::task::JoinHandle<()>,
}

impl Pings {
    /// Listens to the pings of one queue. A lost connection is replaced, with a try every `poll` or every second,
    /// whichever is shorter.
    pub(crate) fn listen(pool: PgPool, queue: String, poll: Duration, fleet: Fleet) -> Self {
        let came = Arc::new(Notify::new());
        let listener = tokio::spawn(pass_on(pool, queue, poll, came.clone()));
        Self { came, fleet, listener }
    }

    /// Waits for a ping, at most for `poll`. A lost ping only delays work.
    pub(crate) async fn next_within(&self, poll: Duration) {
        // Jitter, so that the workers of a fleet do not poll in step.
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

/// The last known number of workers of the queue.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fleet(Arc<AtomicUsize>);

/// Added to the longest delay for each further worker.
const SPREAD: Duration = Duration::from_millis(10);

/// The most workers of a queue that do in one period what is for all of them.
const SHARERS: f64 = 10.0;

impl Fleet {
    pub(crate) fn is_now(&self, workers: usize) {
        self.0.store(workers, Ordering::Relaxed);
    }

    /// Whether this worker does something for the fleet in this period, by `jitter` from 0 to below 1. Of a large fleet about
    /// ten do, each time others: all of them would read the same, and one of them alone might be stuck.
    pub(crate) fn takes_turn(&self, jitter: f64) -> bool {
        let workers = self.0.load(Ordering::Relaxed) as f64;
        jitter * workers < SHARERS
    }

    /// The delay between a ping and a claim, by `jitter` from 0 to 1. In an idle fleet of any size the first worker
    /// claims after about 10 ms, and the later ones find the rest. The fleet thus claims about 200 times a second at
    /// most, instead of once per ping and worker.
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
        // Jobs written before the LISTEN have sent their ping already, so look once now.
        came.notify_one();
        // Ends when the connection is lost (None) or silent. A silent connection is replaced, because its peer may be
        // gone.
        while let Ok(Ok(Some(_))) = tokio::time::timeout(QUIET, listener.try_recv()).await {
            came.notify_one();
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

async fn connect(pool: &PgPool, queue: &str) -> Result<PgListener, sqlx::Error> {
    // A connection of its own: the pool's few connections are for work.
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
    fn a_few_of_a_large_fleet_do_what_is_for_all() {
        let fleet = Fleet::default();
        let turns = || (0..1_000_i32).filter(|at| fleet.takes_turn(f64::from(*at) / 1_000.0)).count();
        for (workers, share) in [(0, 1_000), (1, 1_000), (10, 1_000), (100, 100), (1_000, 10)] {
            fleet.is_now(workers);
            assert_eq!(turns(), share, "of a thousand, {workers} workers");
        }
    }

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
