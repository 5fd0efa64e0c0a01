//! The worker's row in the database. Its leases depend on it.

use std::sync::Arc;
use std::time::Duration;

use htm_core::worker::workers;
use sqlx::PgPool;

use crate::batch::Held;
use crate::deadline::Deadline;

/// The worker's identity and its lease.
pub(crate) struct Registration {
    /// A pool of its own, so that work never delays a renewal.
    pub(crate) pool: PgPool,
    pub(crate) queue: String,
    pub(crate) worker: String,
    pub(crate) detail: String,
    pub(crate) lease: Duration,
    pub(crate) held: Arc<Held>,
}

impl Registration {
    /// What a worker is: its program, its version, and its model if it has one.
    pub(crate) fn detail(program: &str, model: Option<&str>) -> String {
        let parts = [Some(program), Some(env!("CARGO_PKG_VERSION")), model];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }

    /// The time between renewals: a sixth of the lease. Other workers look twice, a third of the lease apart, so two
    /// renewals fall between their looks.
    pub(crate) fn period(&self) -> Duration {
        self.lease / 6
    }

    /// Writes the row.
    ///
    /// # Errors
    /// A database error.
    pub(crate) async fn register(&self) -> htm_core::Result<()> {
        let lease_ms = self.lease.as_millis() as u64;
        workers::register(&self.pool, &self.queue, &self.worker, &self.detail, lease_ms).await
    }

    /// Renews the lease and reports the oldest held claim. A row that is gone is written again.
    ///
    /// # Errors
    /// A database error, also if there is no answer within a third of the lease. The next attempt may still be in time.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_without_a_model_is_a_program_and_a_version() {
        let version = env!("CARGO_PKG_VERSION");
        assert_eq!(Registration::detail("learn-worker", None), format!("learn-worker {version}"));
        assert_eq!(
            Registration::detail("tag-worker", Some("fake/x")),
            format!("tag-worker {version} fake/x")
        );
    }
}
