//! When a connection was last lost. What cuts one connection often cuts them all.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Of any pool of this process.
static LAST: Mutex<Option<Instant>> = Mutex::new(None);

/// Notes a loss.
pub(crate) fn note() {
    *LAST.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
}

/// The time since the last loss. None: there was none.
pub(crate) fn since_last() -> Option<Duration> {
    LAST.lock().unwrap_or_else(PoisonError::into_inner).map(|at| at.elapsed())
}
