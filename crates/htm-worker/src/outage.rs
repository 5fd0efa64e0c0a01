//! The log of an outage of the database. Every task of every worker meets it, together several times a second.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use htm_core::Error;
use htm_core::error::{chain, codes};
use htm_core::worker::Outage;

/// Of this process: its workers have one database.
static OUTAGE: Mutex<Outage> = Mutex::new(Outage::new());

/// Logs an error of a statement. Of an outage, the first error is a warning, and one in each minute after it.
pub(crate) fn warn(error: &Error, what: &str) {
    let (code, cause) = (error.code(), chain(error));
    match error.is(codes::DATABASE_UNREACHABLE) && !outage().is_news(Instant::now()) {
        true => tracing::debug!(code, error = cause, "{what}"),
        false => tracing::warn!(code, error = cause, "{what}"),
    }
}

/// Notes that the database has answered.
pub(crate) fn is_over() {
    if outage().ends() {
        tracing::info!("the database answers again");
    }
}

fn outage() -> MutexGuard<'static, Outage> {
    OUTAGE.lock().unwrap_or_else(PoisonError::into_inner)
}
