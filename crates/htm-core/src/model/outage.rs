//! An outage in the log: many tasks meet it, several times a second.

use std::time::{Duration, Instant};

/// The interval between two lines about the same outage.
const AGAIN: Duration = Duration::from_secs(60);

/// An outage, if there is one.
#[derive(Debug, Default)]
pub struct Outage {
    /// The time of the last line.
    told: Option<Instant>,
}

impl Outage {
    /// There is none.
    pub const fn new() -> Self {
        Self { told: None }
    }

    /// Whether an error is to be told. It counts as told then.
    pub fn is_news(&mut self, now: Instant) -> bool {
        let is_news = self.told.is_none_or(|told| now.duration_since(told) >= AGAIN);
        if is_news {
            self.told = Some(now);
        }
        is_news
    }

    /// Ends the outage. False if there was none.
    pub fn ends(&mut self) -> bool {
        self.told.take().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outage_is_told_when_it_begins_and_once_a_minute() {
        let (mut outage, start) = (Outage::new(), Instant::now());
        let told: Vec<u64> =
            (0..150).filter(|second| outage.is_news(start + Duration::from_secs(*second))).collect();
        assert_eq!(told, [0, 60, 120]);
        assert!(outage.ends() && !outage.ends());
        assert!(outage.is_news(start + Duration::from_secs(151)), "the next one is told");
    }
}
