//! Statements that are worth a wait.

use std::time::{Duration, Instant};

use htm_core::fault::Fault;

use crate::deadline::Deadline;
use crate::verdict::Backoff;

/// How long a statement is offered again to a database that does not answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// Offers a statement again while the database is away: what a provider has computed is worth a wait.
pub(crate) async fn persist<T, F, Fut>(deadline: Deadline, mut statement: F) -> htm_core::Result<T>
where
    F: FnMut() -> Fut,
    Fut: Future<Output = htm_core::Result<T>>,
{
    let started = Instant::now();
    let mut failures = 0;
    loop {
        match deadline.of(statement()).await {
            Err(error) if error.fault() == Fault::Transient && started.elapsed() < PATIENCE => {
                failures += 1;
                let backoff = Backoff { base: Duration::from_millis(50), cap: Duration::from_secs(2) };
                tokio::time::sleep(backoff.delay(failures, 0.5 + fastrand::f64() / 2.0)).await;
            }
            result => return result,
        }
    }
}
