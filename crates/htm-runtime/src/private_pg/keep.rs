//! The server of a program that runs on: if it ends, the program starts it again.

use std::time::Duration;

use htm_core::Result;
use htm_core::error::chain;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use super::PrivatePg;
use crate::commands;

/// The interval between looks. A look reads a small file.
const LOOK: Duration = Duration::from_secs(1);

/// The longest pause before a start. A server that has run for as long counts as sound.
const LONGEST: Duration = Duration::from_secs(60);

/// Starts the server again whenever it has ended, until the use is `over`.
pub(super) async fn keep_running(pg: PrivatePg, over: CancellationToken) {
    let (mut runs, mut since, mut starts) = (true, Instant::now(), 0);
    let mut is_down_told = false;
    while over.run_until_cancelled(sleep(LOOK)).await.is_some() {
        let Ok(has_ended) = pg.blocking(|pg| pg.cluster.has_ended()).await else { continue };
        if !has_ended {
            if !runs {
                tracing::info!("the private PostgreSQL runs again");
                (runs, since) = (true, Instant::now());
            }
            if since.elapsed() > LONGEST {
                starts = 0;
            }
            continue;
        }
        if runs {
            tracing::warn!("the private PostgreSQL has ended");
            (runs, is_down_told) = (false, false);
        }
        if over.run_until_cancelled(sleep(pause(starts))).await.is_none() {
            return;
        }
        starts += 1;
        let until = over.clone();
        match pg.blocking(move |pg| pg.start_again(&until)).await {
            Ok(Again::Starts) => {}
            Ok(Again::StaysDown | Again::IsGone) if is_down_told => {}
            Ok(Again::IsGone) => {
                tracing::warn!("the data directory of the private PostgreSQL is gone");
                is_down_told = true;
            }
            Ok(Again::StaysDown) => {
                tracing::warn!(hint = "`htm db up`", "the private PostgreSQL was stopped by `htm db down`");
                is_down_told = true;
            }
            Err(error) => {
                let (cause, hint) = (chain(&error), commands::hint(&error));
                tracing::warn!(
                    code = error.code(),
                    error = cause,
                    hint,
                    "the private PostgreSQL did not start"
                );
            }
        }
    }
}

/// The pause before a start: none at first, then longer and longer.
fn pause(starts: u32) -> Duration {
    match starts {
        0 => Duration::ZERO,
        _ => LONGEST.min(LOOK * 2_u32.saturating_pow(starts - 1)),
    }
}

/// The next step for a server that has ended.
enum Again {
    /// It starts, or runs again already.
    Starts,
    /// Somebody stopped it on purpose.
    StaysDown,
    /// Its data directory has no cluster.
    IsGone,
}

impl PrivatePg {
    fn start_again(&self, over: &CancellationToken) -> Result<Again> {
        // Somebody removed or moved it. A new one would be empty, and in the way.
        if self.cluster.cluster_version()?.is_none() {
            return Ok(Again::IsGone);
        }
        // The use may end meanwhile: its end waits for the lock, or has had it.
        let _server = self.lock_server()?;
        if !over.is_cancelled() && self.cluster.has_ended()? {
            if self.down_mark().exists() {
                return Ok(Again::StaysDown);
            }
            self.cluster.ensure_running()?;
        }
        Ok(Again::Starts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_ends_again_and_again_is_started_less_and_less_often() {
        let pauses: Vec<u64> = [0, 1, 2, 3, 6, 7, 8, u32::MAX].map(|it| pause(it).as_secs()).into();
        assert_eq!(pauses, [0, 1, 2, 4, 32, 60, 60, 60]);
    }
}
