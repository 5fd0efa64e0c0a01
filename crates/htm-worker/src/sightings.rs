//! Sightings: the times for which things have been seen without a gap.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Things seen at every look, with the time of the first. Times are of this process's monotonic clock, so a jump of the
/// database's clock has no effect.
#[derive(Debug)]
pub(crate) struct Sightings<T>(Mutex<HashMap<T, Instant>>);

impl<T> Default for Sightings<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Clone + Eq + Hash> Sightings<T> {
    /// Records the things that are there now. Returns each with the time since its first sighting. A look without a
    /// thing restarts its time.
    pub(crate) fn look(&self, now: Instant, there: impl IntoIterator<Item = T>) -> Vec<(T, Duration)> {
        let mut first = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let seen: HashMap<T, Instant> = there
            .into_iter()
            .map(|thing| {
                let since = first.get(&thing).copied().unwrap_or(now);
                (thing, since)
            })
            .collect();
        first.clone_from(&seen);
        seen.into_iter().map(|(thing, since)| (thing, now.saturating_duration_since(since))).collect()
    }

    /// Whether nothing was there at the last look.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Forgets all sightings, after a time without looks.
    pub(crate) fn forget(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_there_at_every_look_grows_old() {
        let (sightings, start) = (Sightings::default(), Instant::now());
        let at = |seconds, there: &[&'static str]| {
            let mut seen = sightings.look(start + Duration::from_secs(seconds), there.iter().copied());
            seen.sort();
            seen.into_iter().map(|(thing, age)| (thing, age.as_secs())).collect::<Vec<_>>()
        };
        assert!(sightings.is_empty());
        assert_eq!(at(0, &["a", "b"]), [("a", 0), ("b", 0)]);
        assert!(!sightings.is_empty());
        assert_eq!(at(3, &["a"]), [("a", 3)]);
        assert_eq!(at(5, &["a", "b"]), [("a", 5), ("b", 0)]);
        sightings.forget();
        assert_eq!(at(9, &["a", "b"]), [("a", 0), ("b", 0)]);
    }
}
