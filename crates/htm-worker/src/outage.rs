//! The log of an outage of the database. Every task of every worker meets it, together several times a second.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use htm_core::Error;
use htm_core::error::{chain, codes};

/// The interval between two lines about the same outage.
const AGAIN: Duration = Duration::from_secs(60);

/// Of this process: its workers have one database.
static OUTAGE: Mutex<Outage> = Mutex::new(Outage { told: None });

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

/// An outage, if there is one.
struct Outage {
    /// The time of the last line.
    told: Option<Instant>,
}

impl Outage {
    /// Whether an error is to be told. It counts as told then.
    fn is_news(&mut self, now: Instant) -> bool {
        let is_news = self.told.is_none_or(|told| now.duration_since(told) >= AGAIN);
        if is_news {
            self.told = Some(now);
        }
        is_news
    }

    /// Ends the outage. False if there was none.
    fn ends(&mut self) -> bool {
        self.told.take().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outage_is_told_when_it_begins_and_once_a_minute() {
        let (mut outage, start) = (Outage { told: None }, Instant::now());
        let told: Vec<u64> =
            (0..150).filter(|second| outage.is_news(start + Duration::from_secs(*second))).collect();
        assert_eq!(told, [0, 60, 120]);
        assert!(outage.ends() && !outage.ends());
        assert!(outage.is_news(start + Duration::from_secs(151)), "the next one is told");
    }
}
