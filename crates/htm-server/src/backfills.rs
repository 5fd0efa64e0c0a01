//! Backfills in the background. Servers over one database share them: each goes on with those that it has claimed, until
//! its lease ends.

use std::sync::Arc;
use std::time::{Duration, Instant};

use htm_core::error::chain;
use htm_core::{Backfill, BackfillStep, Htm};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use ulid::Ulid;

/// The time after which another server goes on with the runs of one that is gone.
const LEASE: Duration = Duration::from_secs(15);
/// The time between two looks at the runs: at new ones, those of gone servers, and cancelled ones.
const LOOK: Duration = Duration::from_secs(3);
/// The wait for a full queue.
const FULL: Duration = Duration::from_millis(500);

/// Goes on with runs until the stop; `new` says that there is one. The stop leaves them to other servers, or the next one.
pub(crate) async fn run(htm: Htm, new: Arc<Notify>, stop: CancellationToken) {
    let server = Ulid::new().to_string();
    let (mut runs, mut looked): (Vec<Backfill>, Option<Instant>) = (Vec::new(), None);
    while !stop.is_cancelled() {
        if looked.is_none_or(|at| at.elapsed() >= LOOK) {
            runs = htm.claim_backfills(&server, LEASE).await.unwrap_or_else(|error| {
                tracing::debug!(error = %chain(&error), "backfills are not looked at; again in a moment");
                Vec::new()
            });
            looked = Some(Instant::now());
        }
        let pause = match steps(&mut runs).await {
            true => continue,
            false if runs.is_empty() => LOOK,
            false => FULL,
        };
        tokio::select! {
            () = stop.cancelled() => {}
            () = new.notified() => looked = None,
            () = tokio::time::sleep(pause) => {}
        }
    }
    if !runs.is_empty()
        && let Err(error) = htm.release_backfills(&server).await
    {
        tracing::debug!(error = %chain(&error), "backfills go on when their lease ends");
    }
}

/// Enqueues a chunk of each run. False if there was none, or no queue has room.
async fn steps(runs: &mut Vec<Backfill>) -> bool {
    let mut has_enqueued = false;
    let mut left = Vec::new();
    for mut run in std::mem::take(runs) {
        match run.step().await {
            Ok(BackfillStep::Finished) if run.is_cancelled() => {
                tracing::info!(run = run.run(), enqueued = run.enqueued(), "a backfill was cancelled");
            }
            Ok(BackfillStep::Finished) => {
                tracing::info!(run = run.run(), enqueued = run.enqueued(), "a backfill is enqueued");
            }
            Ok(step) => {
                has_enqueued |= step == BackfillStep::Enqueued;
                left.push(run);
            }
            // It is claimed again at the next look.
            Err(error) => {
                tracing::warn!(run = run.run(), error = %chain(&error), "a backfill waits after an error");
            }
        }
    }
    *runs = left;
    has_enqueued
}
