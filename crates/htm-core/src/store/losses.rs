//! The time of the last loss of a connection. A cause that cuts one connection often cuts them all.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

/// Of any pool of this process.
static LAST: Mutex<Option<Instant>> = Mutex::new(None);

/// Wakes the tasks that wait for the next loss.
static LOST: Notify = Notify::const_new();

/// Notes a loss.
pub(crate) fn note() {
    *LAST.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    LOST.notify_waiters();
}

/// Waits for the next loss.
pub(crate) async fn next() {
    LOST.notified().await;
}

/// The time since the last loss. None: there was none.
pub(crate) fn since_last() -> Option<Duration> {
    LAST.lock().unwrap_or_else(PoisonError::into_inner).map(|at| at.elapsed())
}
