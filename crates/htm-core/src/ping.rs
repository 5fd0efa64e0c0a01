//! Waking idle workers after a commit.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sqlx::PgPool;
use tokio::sync::Notify;

use crate::store::jobs;

/// At most one NOTIFY in this time.
const DEBOUNCE: Duration = Duration::from_millis(50);

/// Sends a NOTIFY after writes were committed, at most one in 50 ms, on a task of its own: a writer never waits for
/// it. One that is lost costs time, not work: workers poll besides.
#[derive(Clone, Debug)]
pub(crate) struct Pinger {
    written: Arc<Notify>,
    pending: Arc<AtomicBool>,
    _task: Arc<AbortOnDrop>,
}

impl Pinger {
    pub(crate) fn start(pool: PgPool) -> Self {
        let written = Arc::new(Notify::new());
        let pending = Arc::new(AtomicBool::new(false));
        let task = tokio::spawn({
            let (written, pending) = (written.clone(), pending.clone());
            async move {
                loop {
                    written.notified().await;
                    pending.store(false, Ordering::Relaxed);
                    jobs::ping(&pool).await;
                    tokio::time::sleep(DEBOUNCE).await;
                }
            }
        });
        Self { written, pending, _task: Arc::new(AbortOnDrop(task)) }
    }

    /// Says that there is work.
    pub(crate) fn ping(&self) {
        self.pending.store(true, Ordering::Relaxed);
        self.written.notify_one();
    }

    /// Sends the ping that still waits, if one does: for programs that end now.
    pub(crate) async fn flush(&self, pool: &PgPool) {
        if self.pending.swap(false, Ordering::Relaxed) {
            jobs::ping(pool).await;
        }
    }
}

/// A task that ends with the last of those who need it.
#[derive(Debug)]
pub(crate) struct AbortOnDrop(pub(crate) tokio::task::JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}
