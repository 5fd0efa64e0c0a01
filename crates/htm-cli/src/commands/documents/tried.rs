//! The last try of each file: a watch tries again only those that may end in another way.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use super::report::LeftOut;

/// The size and the time of change of a file.
pub(super) type Stamp = (u64, SystemTime);

/// The shortest and the longest time until a file is tried again as it is.
const SOONEST: Duration = Duration::from_secs(1);
const LATEST: Duration = Duration::from_secs(3_600);

/// How long a file is left out for a reason.
#[derive(Clone, Copy, Debug)]
pub(super) enum Holds {
    /// As long as it has these bytes.
    WhileSame,
    /// Until something else changes, such as a quota. A try takes long, so the time to the next one doubles.
    AWhile,
    /// Until something else changes, such as a permission. A try takes nothing, so it is made at each look.
    Briefly,
}

/// The files that are not tried at each look.
#[derive(Default)]
pub(super) struct Tried(HashMap<PathBuf, Try>);

/// The last try of a file.
pub(super) struct Try {
    stamp: Stamp,
    /// Why it was not loaded.
    pub(super) left_out: Option<LeftOut>,
    /// When the first try of the file as it is was made, and when the next one is due; none: never.
    next: Option<(Instant, Instant)>,
}

impl Tried {
    /// Drops the others: a file that comes back with its former size and time is tried again.
    pub(super) fn retain<'a>(&mut self, found: impl Iterator<Item = &'a Path>) {
        let found: HashSet<_> = found.collect();
        self.0.retain(|place, _| found.contains(place.as_path()));
    }

    /// The last try of a file that has not changed since; none: it has to be tried.
    pub(super) fn last(&self, place: &Path, stamp: Option<Stamp>, now: Instant) -> Option<&Try> {
        let last = self.0.get(place).filter(|last| Some(last.stamp) == stamp)?;
        last.next.is_none_or(|(_, due)| now < due).then_some(last)
    }

    /// Notes a try.
    pub(super) fn note(
        &mut self,
        place: &Path,
        stamp: Option<Stamp>,
        left_out: Option<(LeftOut, Holds)>,
        now: Instant,
    ) {
        let last = self.0.remove(place).filter(|last| Some(last.stamp) == stamp);
        let Some(stamp) = stamp else { return };
        let (left_out, next) = match left_out {
            None => (None, None),
            Some((left_out, Holds::WhileSame)) => (Some(left_out), None),
            Some((left_out, Holds::AWhile)) => {
                let first = last.and_then(|last| last.next).map_or(now, |(first, _)| first);
                (Some(left_out), Some((first, now + (now - first).clamp(SOONEST, LATEST))))
            }
            Some((_, Holds::Briefly)) => return,
        };
        self.0.insert(place.to_owned(), Try { stamp, left_out, next });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AS_IT_IS: Option<Stamp> = Some((1, SystemTime::UNIX_EPOCH));
    const CHANGED: Option<Stamp> = Some((2, SystemTime::UNIX_EPOCH));

    fn place() -> &'static Path {
        Path::new("a.md")
    }

    fn left_out(holds: Holds) -> Option<(LeftOut, Holds)> {
        let left_out = LeftOut {
            path: "a.md".into(),
            reason: "binary".into(),
            detail: "it is binary".into(),
            passages: 0,
            named: false,
        };
        Some((left_out, holds))
    }

    #[test]
    fn what_does_not_follow_from_the_bytes_is_tried_at_each_look() {
        let (mut tried, now) = (Tried::default(), Instant::now());
        tried.note(place(), AS_IT_IS, left_out(Holds::Briefly), now);
        assert!(tried.last(place(), AS_IT_IS, now).is_none());
        tried.note(place(), AS_IT_IS, left_out(Holds::WhileSame), now);
        let last = tried.last(place(), AS_IT_IS, now + 2 * LATEST).unwrap();
        assert_eq!(last.left_out.as_ref().map(|it| it.reason.as_str()), Some("binary"));
        assert!(tried.last(place(), CHANGED, now).is_none());
        tried.note(place(), CHANGED, None, now);
        assert!(tried.last(place(), CHANGED, now).unwrap().left_out.is_none());
    }

    #[test]
    fn a_refused_file_is_tried_when_it_changes_and_else_less_and_less_often() {
        let (mut tried, start) = (Tried::default(), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        let is_due = |tried: &Tried, stamp, seconds| tried.last(place(), stamp, at(seconds)).is_none();
        for (tried_at, due) in [(0, 1), (1, 2), (10, 20), (60, 120), (100_000, 103_600)] {
            tried.note(place(), AS_IT_IS, left_out(Holds::AWhile), at(tried_at));
            assert!(!is_due(&tried, AS_IT_IS, due - 1) && is_due(&tried, AS_IT_IS, due), "{tried_at}");
            assert!(is_due(&tried, CHANGED, tried_at), "{tried_at}");
        }
        tried.note(place(), CHANGED, left_out(Holds::AWhile), at(100_000));
        assert!(is_due(&tried, CHANGED, 100_001));
    }

    #[test]
    fn what_is_dropped_begins_anew() {
        let (mut tried, start) = (Tried::default(), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        tried.note(place(), AS_IT_IS, left_out(Holds::AWhile), start);
        tried.retain(std::iter::once(place()));
        assert!(tried.last(place(), AS_IT_IS, start).is_some());
        tried.retain(std::iter::empty());
        assert!(tried.last(place(), AS_IT_IS, start).is_none());
        tried.note(place(), AS_IT_IS, left_out(Holds::AWhile), at(60));
        assert!(tried.last(place(), AS_IT_IS, at(61)).is_none());
    }
}
