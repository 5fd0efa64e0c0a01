//! Pings: somebody has written jobs.

use std::sync::Arc;
use std::time::Duration;

use htm_core::store::jobs::PING_CHANNEL;
use sqlx::PgPool;
use sqlx::postgres::{PgListener, PgPoolOptions};
use tokio::sync::Notify;

/// How long nothing may come before the connection is opened anew.
const QUIET: Duration = Duration::from_secs(60);

/// Listens for as long as it lives. A ping that comes while nobody waits is kept; many are one.
pub(crate) struct Pings {
    came: Arc<Notify>,
    listener: tokio::task::JoinHandle<()>,
}

impl Pings {
    /// A connection that is lost is opened again; while it cannot be, it is tried every `poll`, or every second.
    pub(crate) fn listen(pool: PgPool, poll: Duration) -> Self {
        let came = Arc::new(Notify::new());
        let listener = tokio::spawn(pass_on(pool, poll, came.clone()));
        Self { came, listener }
    }

    /// Waits for a ping, but never longer than the poll interval: a lost ping costs time, not work.
    pub(crate) async fn next_within(&self, poll: Duration) {
        // Workers of a fleet should not poll in step.
        let poll = poll.mul_f64(0.9 + fastrand::f64() / 10.0);
        tokio::time::timeout(poll, self.came.notified()).await.ok();
    }
}

impl Drop for Pings {
    fn drop(&mut self) {
        self.listener.abort();
    }
}

async fn pass_on(pool: PgPool, poll: Duration, came: Arc<Notify>) {
    loop {
        let Ok(mut listener) = connect(&pool).await else {
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

async fn connect(pool: &PgPool) -> Result<PgListener, sqlx::Error> {
    // A connection of its own: the pool's are for work, and it may have few.
    let options = pool.connect_options().as_ref().clone();
    let own = PgPoolOptions::new().max_connections(1).connect_with(options).await?;
    let mut listener = PgListener::connect_with(&own).await?;
    listener.listen(PING_CHANNEL).await?;
    Ok(listener)
}
