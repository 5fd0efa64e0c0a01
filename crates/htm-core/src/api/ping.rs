//! Waking idle workers after a commit.

use std::time::Duration;

use sqlx::PgPool;
use tokio::sync::mpsc;

use crate::store::jobs;

/// The minimum time between two NOTIFYs.
const DEBOUNCE: Duration = Duration::from_millis(20);

/// Sends a NOTIFY after writes were committed, at most one in 20 ms, on a task of its own: a writer never waits for it.
/// A lost one costs time, not work: workers poll as well.
#[derive(Clone, Debug)]
pub(crate) struct Pinger {
    /// Room for one entry, which stands for all writes since the last NOTIFY.
    written: mpsc::Sender<()>,
}

impl Pinger {
    pub(crate) fn start(pool: PgPool) -> Self {
        let (written, mut pings) = mpsc::channel(1);
        // Ends when the last handle is dropped, after the last NOTIFY was sent.
        tokio::spawn(async move {
            while pings.recv().await.is_some() {
                jobs::ping(&pool).await;
                tokio::time::sleep(DEBOUNCE).await;
            }
        });
        Self { written }
    }

    /// Requests a NOTIFY.
    pub(crate) fn ping(&self) {
        // Full: a NOTIFY is waiting to be sent.
        self.written.try_send(()).ok();
    }

    /// Sends the waiting NOTIFY, if any; for programs that are about to end.
    pub(crate) async fn flush(&self, pool: &PgPool) {
        if self.written.capacity() == 0 {
            jobs::ping(pool).await;
        }
    }
}
