//! The log of requests that failed. In an outage every request fails, so lines are limited.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use htm_core::Error;
use htm_core::error::{chain, codes};
use htm_core::worker::Outage;

/// Of this process: its servers have one database.
static REFUSED: Mutex<Refused> = Mutex::new(Refused::new());

/// The time since the last line after which an outage is another one.
const FORMER: Duration = Duration::from_secs(120);

/// The requests that failed because the database was away.
struct Refused {
    outage: Outage,
    /// The time of the last line.
    told: Option<Instant>,
    /// Those since the last line.
    others: u64,
}

impl Refused {
    const fn new() -> Self {
        Self { outage: Outage::new(), told: None, others: 0 }
    }

    /// Counts one. If it is to be told, returns how many of the same outage were not, since the last that was.
    fn tell(&mut self, now: Instant) -> Option<u64> {
        if !self.outage.is_news(now) {
            self.others += 1;
            return None;
        }
        let others = std::mem::take(&mut self.others);
        let is_same = self.told.replace(now).is_some_and(|told| now.duration_since(told) < FORMER);
        Some(if is_same { others } else { 0 })
    }
}

/// Logs the failure of a request. Of those because the database is away, there is a line a minute.
pub(crate) fn warn(error: &Error) {
    // Its causes may name hosts and statements. They are for the operator.
    let (code, cause) = (error.code(), chain(error));
    let told = match error.is(codes::DATABASE_UNREACHABLE) {
        true => REFUSED.lock().unwrap_or_else(PoisonError::into_inner).tell(Instant::now()),
        false => Some(0),
    };
    match told {
        Some(0) => tracing::warn!(code, error = cause, "a request failed"),
        Some(others) => tracing::warn!(code, error = cause, others, "requests failed"),
        None => tracing::debug!(code, error = cause, "a request failed"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_requests_of_an_outage_share_a_line_a_minute() {
        let (mut refused, start) = (Refused::new(), Instant::now());
        let told: Vec<u64> =
            (0..90).filter_map(|second| refused.tell(start + Duration::from_secs(second))).collect();
        assert_eq!(told, [0, 59]);
        assert_eq!(refused.tell(start + Duration::from_secs(150)), Some(29));
        assert_eq!(refused.tell(start + Duration::from_secs(151)), None);
        assert_eq!(refused.tell(start + Duration::from_secs(600)), Some(0), "another outage");
    }
}
