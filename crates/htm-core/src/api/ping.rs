//! Waking idle workers after a commit.

use std::time::Duration;

use sqlx::PgPool;
use tokio::sync::mpsc;

use crate::store::jobs;

/// At most one NOTIFY in this time.
const DEBOUNCE: Duration = Duration::from_millis(20);

/// Sends a NOTIFY after writes were committed, at most one in 20 ms, on a task of its own: a writer never waits for
/// it. One that is lost costs time, not work: workers poll besides.
#[derive(Clone, Debug)]
pub(crate) struct Pinger {
    /// Room for one: it stands for all writes since the last NOTIFY.
    written: mpsc::Sender<()>,
}

impl Pinger {
    pub(crate) fn start(pool: PgPool) -> Self {
        let (written, mut pings) = mpsc::channel(1);
        // Ends when the last handle is gone, and sends before what still waits.
        tokio::spawn(async move {
            while pings.recv().await.is_some() {
                jobs::ping(&pool).await;
                tokio::time::sleep(DEBOUNCE).await;
            }
        });
        Self { written }
    }

    /// Says that there is work.
    pub(crate) fn ping(&self) {
        // Full: one waits to be sent.
        self.written.try_send(()).ok();
    }

    /// Sends the ping that still waits, if one does: for programs that end now.
    pub(crate) async fn flush(&self, pool: &PgPool) {
        if self.written.capacity() == 0 {
            jobs::ping(pool).await;
        }
    }
}
