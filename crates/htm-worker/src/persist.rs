//! Retries of statements while the database is away.

use std::time::{Duration, Instant};

use htm_core::Error;
use htm_core::error::codes;
use htm_core::fault::Fault;
use htm_core::worker::queues;
use htm_runtime::chain;
use sqlx::PgPool;

use crate::deadline::Deadline;
use crate::outage;
use crate::verdict::Backoff;

/// The time for which a statement is retried.
const PATIENCE: Duration = Duration::from_secs(60);

/// The backoff between two tries.
const AGAIN: Backoff = Backoff { base: Duration::from_millis(50), cap: Duration::from_secs(2) };

/// The duration of a queue's hold after a rejected result. Each retry renews the hold.
const HOLD: Duration = Duration::from_secs(15);

/// Retries a statement after transient errors, for up to a minute.
pub(crate) async fn persist<T, F, Fut>(deadline: Deadline, statement: F) -> htm_core::Result<T>
where
    F: FnMut() -> Fut,
    Fut: Future<Output = htm_core::Result<T>>,
{
    persist_while(|error| error.fault() == Fault::Transient, deadline, statement).await
}

/// As [`persist`], for results. A provider was paid for them, so they are retried for as long as the database is away,
/// has no room or denies the write. Meanwhile their queue is held: nothing is claimed from it, and the hold shows the
/// reason. They are also retried for as long as another transaction is in the way.
pub(crate) async fn persist_results<T, F, Fut>(
    pool: &PgPool,
    queue: &str,
    deadline: Deadline,
    mut write: F,
) -> htm_core::Result<T>
where
    F: FnMut() -> Fut,
    Fut: Future<Output = htm_core::Result<T>>,
{
    let passes = |error: &Error| {
        error.fault() == Fault::Transient && !is_the_databases_own(error) && !error.is(codes::CONTENDED)
    };
    let mut failures = 0;
    let mut held = false;
    let result = loop {
        match persist_while(passes, deadline, &mut write).await {
            Err(error) if is_the_databases_own(&error) => {
                failures += 1;
                let reason = format!("{}: {}", error.code(), chain(&error));
                if failures == 1 {
                    tracing::warn!(
                        queue,
                        reason,
                        "the database accepts no results: they are kept and tried again"
                    );
                }
                // An unreachable database cannot record a hold and serves no claims anyway.
                if !error.is(codes::DATABASE_UNREACHABLE) {
                    match deadline.of(queues::hold(pool, queue, &reason, HOLD)).await {
                        Ok(()) => held = true,
                        Err(error) => {
                            tracing::warn!(code = error.code(), error = %chain(&error), "the queue could not be held")
                        }
                    }
                }
                wait(failures).await;
            }
            // A change of the ontology may hold its locks for minutes.
            Err(error) if error.is(codes::CONTENDED) => {
                failures += 1;
                wait(failures).await;
            }
            result => break result,
        }
    };
    if held && let Err(error) = deadline.of(queues::let_go(pool, queue)).await {
        tracing::warn!(code = error.code(), error = %chain(&error), "the queue stays held until the hold expires");
    }
    result
}

async fn persist_while<T, F, Fut>(
    passes: impl Fn(&Error) -> bool,
    deadline: Deadline,
    mut statement: F,
) -> htm_core::Result<T>
where
    F: FnMut() -> Fut,
    Fut: Future<Output = htm_core::Result<T>>,
{
    let started = Instant::now();
    let mut failures = 0;
    loop {
        match deadline.of(statement()).await {
            Err(error) if passes(&error) && started.elapsed() < PATIENCE => {
                failures += 1;
                if failures == 1 {
                    outage::warn(&error, "the database failed; the statement is tried again");
                }
                wait(failures).await;
            }
            result => return result,
        }
    }
}

/// Whether the database would reject any result: it is unreachable, has no room, or denies writes to this program.
fn is_the_databases_own(error: &Error) -> bool {
    [codes::DATABASE_UNREACHABLE, codes::DATABASE_EXHAUSTED, codes::DATABASE_DENIED]
        .iter()
        .any(|code| error.is(code))
}

async fn wait(failures: u32) {
    tokio::time::sleep(AGAIN.delay(failures, 0.5 + fastrand::f64() / 2.0)).await;
}
