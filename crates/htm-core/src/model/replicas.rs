//! Read replicas: how stale they are, and what a reader may be given.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crate::model::wal::WalPosition;

/// A replica, as of its last look.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct ReplicaState {
    /// Its host and port.
    pub host: String,
    /// Whether it answers reads.
    pub in_use: bool,
    /// The age of the newest commit of the primary that it is sure to have, in seconds, since that was measured. None:
    /// it is older than what was measured, or nothing that old was measured yet.
    pub staleness_seconds: Option<f64>,
    /// Why it does not answer reads. Empty if it does.
    pub reason: String,
}

/// Where the primary was at which time: the measure of a replica's staleness. It holds also for a replica that has lost
/// its connection to the primary, and for a primary that writes nothing.
#[derive(Debug)]
pub(crate) struct History {
    places: VecDeque<(Instant, WalPosition)>,
    kept: Duration,
}

impl History {
    pub(crate) fn new(kept: Duration) -> Self {
        Self { places: VecDeque::new(), kept }
    }

    /// Adds where the primary is now.
    pub(crate) fn add(&mut self, now: Instant, position: WalPosition) {
        // A replica that was promoted goes on from where it was, which may be before.
        while self.places.back().is_some_and(|(_, last)| *last > position) {
            self.places.pop_back();
        }
        self.places.push_back((now, position));
        let is_old = |(at, _): &(Instant, WalPosition)| now.duration_since(*at) > self.kept;
        while self.places.front().is_some_and(is_old) {
            self.places.pop_front();
        }
    }

    /// The time since the primary was at most where the replica is now: the replica has everything that was committed
    /// before.
    pub(crate) fn staleness(&self, now: Instant, replayed: WalPosition) -> Option<Duration> {
        let reached = self.places.iter().rev().find(|(_, position)| *position <= replayed);
        reached.map(|(at, _)| now.saturating_duration_since(*at))
    }

    /// Whether a replica may be fresh although it has reached no place: none is older than `most`.
    pub(crate) fn is_unmeasured(&self, now: Instant, replayed: WalPosition, most: Duration) -> bool {
        self.staleness(now, replayed).is_none() && self.age(now) <= most
    }

    /// Why a replica is left out that may be `most` stale; none if it is not.
    pub(crate) fn too_stale(&self, now: Instant, replayed: WalPosition, most: Duration) -> Option<String> {
        let stale = self.staleness(now, replayed);
        if stale.is_some_and(|stale| stale <= most) {
            return None;
        }
        let of = most.as_secs_f64();
        Some(match stale {
            Some(stale) => format!("it is {:.1} s stale; at most {of} s are allowed", stale.as_secs_f64()),
            None if self.is_unmeasured(now, replayed, most) => "its staleness is not measured yet".into(),
            None => {
                format!(
                    "it is more than {:.1} s stale; at most {of} s are allowed",
                    self.age(now).as_secs_f64()
                )
            }
        })
    }

    /// The age of the oldest place.
    fn age(&self, now: Instant) -> Duration {
        self.places.front().map_or(Duration::ZERO, |(at, _)| now.saturating_duration_since(*at))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn history(places: &[(u32, u64)]) -> (Instant, History) {
        let start = Instant::now();
        let mut history = History::new(10 * SECOND);
        for &(second, position) in places {
            history.add(start + second * SECOND, WalPosition(position));
        }
        (start, history)
    }

    #[test]
    fn a_replica_is_as_stale_as_the_newest_place_that_it_has_reached() {
        let (start, history) = history(&[(0, 100), (1, 200), (2, 300)]);
        let staleness = |replayed| history.staleness(start + 3 * SECOND, WalPosition(replayed));
        assert_eq!(staleness(300), Some(SECOND));
        assert_eq!(staleness(900), Some(SECOND));
        assert_eq!(staleness(299), Some(2 * SECOND));
        assert_eq!(staleness(100), Some(3 * SECOND));
        assert_eq!(staleness(99), None);
    }

    #[test]
    fn a_primary_that_writes_nothing_makes_no_replica_stale_and_one_that_is_away_makes_all() {
        let (start, history) = history(&[(0, 100), (1, 100), (2, 100)]);
        assert_eq!(history.staleness(start + 2 * SECOND, WalPosition(100)), Some(Duration::ZERO));
        assert_eq!(history.staleness(start + 60 * SECOND, WalPosition(100)), Some(58 * SECOND));
    }

    #[test]
    fn a_promoted_replica_that_lacked_the_last_writes_is_the_measure() {
        let (start, history) = history(&[(0, 100), (1, 200), (2, 150)]);
        assert_eq!(history.staleness(start + 2 * SECOND, WalPosition(150)), Some(Duration::ZERO));
        assert_eq!(history.staleness(start + 2 * SECOND, WalPosition(120)), Some(2 * SECOND));
    }

    #[test]
    fn a_replica_is_called_stale_only_if_a_place_is_as_old_as_that() {
        let (start, history) = history(&[(0, 100), (1, 200)]);
        let why = |second, replayed| {
            let now = start + second * SECOND;
            history.too_stale(now, WalPosition(replayed), 5 * SECOND).unwrap_or_default()
        };
        assert_eq!(why(1, 100), "");
        assert_eq!(why(1, 99), "its staleness is not measured yet");
        assert_eq!(why(6, 99), "it is more than 6.0 s stale; at most 5 s are allowed");
        assert_eq!(why(6, 100), "it is 6.0 s stale; at most 5 s are allowed");
        let unseen = History::new(10 * SECOND);
        assert!(unseen.is_unmeasured(start, WalPosition(100), 5 * SECOND));
    }

    proptest! {
        /// The primary writes `steps[i]` bytes in second `i`; the replica has reached what was written `behind` ago.
        #[test]
        fn the_staleness_is_never_understated(
            steps in prop::collection::vec(0_u64..50, 1..30), behind in 0_usize..30,
        ) {
            let start = Instant::now();
            let mut history = History::new(60 * SECOND);
            let mut written = Vec::new();
            for (second, step) in steps.iter().enumerate() {
                written.push(written.last().copied().unwrap_or(0) + step);
                history.add(start + second as u32 * SECOND, WalPosition(written[second]));
            }
            let now = steps.len() - 1;
            let reached = now.saturating_sub(behind);
            let stale = history.staleness(start + now as u32 * SECOND, WalPosition(written[reached])).unwrap();
            // Everything that was committed before `now - stale` is there.
            let sure = now - stale.as_secs() as usize;
            prop_assert!(written[sure] <= written[reached]);
            prop_assert!(stale <= (now - reached) as u32 * SECOND);
        }
    }
}
