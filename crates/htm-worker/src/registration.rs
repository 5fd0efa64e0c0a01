//! The worker's row in the database, which its leases hang on.

use std::sync::Arc;
use std::time::Duration;

use htm_core::worker::workers;
use sqlx::PgPool;

use crate::batch::Held;
use crate::deadline::Deadline;

/// Who the worker is, and how long it may go unseen.
pub(crate) struct Registration {
    /// Of its own: no work keeps it from renewing.
    pub(crate) pool: PgPool,
    pub(crate) queue: String,
    pub(crate) worker: String,
    pub(crate) detail: String,
    pub(crate) lease: Duration,
    pub(crate) held: Arc<Held>,
}

impl Registration {
    /// How often the lease is renewed: twice between the two looks of others, a third of a lease apart.
    pub(crate) fn period(&self) -> Duration {
        self.lease / 6
    }

    /// # Errors
    /// A database error.
    pub(crate) async fn register(&self) -> htm_core::Result<()> {
        let lease_ms = self.lease.as_millis() as u64;
        workers::register(&self.pool, &self.queue, &self.worker, &self.detail, lease_ms).await
    }

    /// Says that the worker lives, and what is in its hands; a row that is gone is put back.
    ///
    /// # Errors
    /// A database error, also when it does not answer within a third of the lease: the next attempt may still be in time.
    pub(crate) async fn renew(&self) -> htm_core::Result<()> {
        let renew = async {
            if !workers::heartbeat(&self.pool, &self.worker, self.held.since()).await? {
                self.register().await?;
            }
            Ok(())
        };
        Deadline::LONGEST.at_most(self.lease / 3).of(renew).await
    }
}
