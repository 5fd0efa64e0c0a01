//! Timeframes: the filter by time of every strategy.
//!
//! A [`TimeExpression`] is a time as people write it. Resolved against an instant, a time zone and the first day of the
//! week, it is a [`Timeframe`], a set of ranges. `timeframe/grammar.rs` has the words, `timeframe/calendar.rs` their
//! meaning.

mod applied;
mod calendar;
mod expression;
mod grammar;
mod instant;
mod named;
mod phrase;
mod tokens;
mod zone;

use std::cmp::Ordering;
use std::fmt;

use chrono::{DateTime, NaiveTime, SecondsFormat, Utc};

pub(crate) use self::applied::Applied;
pub use self::applied::{TimeFilter, TimePhrase};
pub use self::expression::TimeExpression;
pub use self::instant::{read_expiry, read_instant, read_timestamp};
pub(crate) use self::named::{NamedMonth, named_months};
pub use self::zone::{TimeSettings, WeekStart, Zone};
use crate::model::error::{Error, Result, codes};

/// A range from an instant (inclusive) until another one (exclusive). A side that is none is open. Never empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TimeRange {
    from: Option<DateTime<Utc>>,
    until: Option<DateTime<Utc>>,
}

impl TimeRange {
    /// From `from` (inclusive) until `until` (exclusive).
    ///
    /// # Errors
    /// `timeframe_reversed` when it does not end after its start, `time_out_of_range` outside of the years 1 to 9999.
    pub fn new(from: Option<DateTime<Utc>>, until: Option<DateTime<Utc>>) -> Result<Self> {
        Self::told_in(&Zone::UTC, from, until)
    }

    /// As [`new`](Self::new), with the times of an error in a zone.
    pub(crate) fn told_in(
        zone: &Zone,
        from: Option<DateTime<Utc>>,
        until: Option<DateTime<Utc>>,
    ) -> Result<Self> {
        for time in [from, until].into_iter().flatten() {
            crate::model::memory::validate_time(time)?;
        }
        let (Some(start), Some(end)) = (from, until) else { return Ok(Self { from, until }) };
        let reversed = |message: String| Error::new(codes::TIMEFRAME_REVERSED, message);
        match end.cmp(&start) {
            Ordering::Greater => Ok(Self { from, until }),
            Ordering::Equal => {
                let hint = match zone.local(start).time() == NaiveTime::MIN {
                    true => format!(
                        "the end is exclusive: for one day give `{}`, or end the range the next day",
                        zone.day(start)
                    ),
                    false => "the end is exclusive: end the range later".into(),
                };
                let message = format!("the timeframe ends where it starts, at {}", zone.tell(start));
                Err(reversed(message).with_hint(hint))
            }
            Ordering::Less => Err(reversed(format!(
                "the timeframe ends ({}) before it starts ({})",
                zone.tell(end),
                zone.tell(start)
            ))),
        }
    }

    /// The start, inclusive.
    pub fn from(&self) -> Option<DateTime<Utc>> {
        self.from
    }

    /// The end, exclusive.
    pub fn until(&self) -> Option<DateTime<Utc>> {
        self.until
    }

    /// Whether an instant is within.
    pub fn contains(&self, instant: DateTime<Utc>) -> bool {
        self.from.is_none_or(|from| from <= instant) && self.until.is_none_or(|until| instant < until)
    }
}

/// A set of separate ranges of time, in order. There is no empty set: [`ALL`](Self::ALL), which filters nothing, has no
/// ranges.
///
/// ```
/// use htm_core::Timeframe;
/// let day = |day: &str| format!("{day}T00:00:00Z").parse().ok();
/// let first = Timeframe::new(day("2026-03-01"), day("2026-03-02"))?;
/// let second = Timeframe::new(day("2026-03-02"), day("2026-03-05"))?;
/// assert_eq!(first.or(&second), Timeframe::new(day("2026-03-01"), day("2026-03-05"))?);
/// assert_eq!(first.or(&Timeframe::ALL), Timeframe::ALL);
/// assert_eq!(
///     Timeframe::new(day("2026-03-02"), day("2026-03-01")).unwrap_err().code(),
///     "timeframe_reversed"
/// );
/// # Ok::<(), htm_core::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(transparent)]
pub struct Timeframe {
    ranges: Vec<TimeRange>,
}

impl Timeframe {
    /// No filter.
    pub const ALL: Timeframe = Timeframe { ranges: Vec::new() };

    /// One range, from `from` (inclusive) until `until` (exclusive); [`ALL`](Self::ALL) when both are open.
    ///
    /// # Errors
    /// `timeframe_reversed` when it does not end after its start, `time_out_of_range` outside of the years 1 to 9999.
    pub fn new(from: Option<DateTime<Utc>>, until: Option<DateTime<Utc>>) -> Result<Self> {
        Ok(TimeRange::new(from, until)?.into())
    }

    /// The ranges, the earliest first; none when nothing is filtered.
    pub fn ranges(&self) -> &[TimeRange] {
        &self.ranges
    }

    /// Whether it filters nothing.
    pub fn is_all(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The start of the first range; none when it is open.
    pub fn from(&self) -> Option<DateTime<Utc>> {
        self.ranges.first()?.from
    }

    /// The end of the last range; none when it is open.
    pub fn until(&self) -> Option<DateTime<Utc>> {
        self.ranges.last()?.until
    }

    /// Whether an instant is within.
    pub fn contains(&self, instant: DateTime<Utc>) -> bool {
        self.is_all() || self.ranges.iter().any(|range| range.contains(instant))
    }

    /// The union of both.
    pub fn or(&self, other: &Timeframe) -> Timeframe {
        if self.is_all() || other.is_all() {
            return Self::ALL;
        }
        let mut all: Vec<TimeRange> = self.ranges.iter().chain(&other.ranges).copied().collect();
        // An open start comes first: none is less than some.
        all.sort_by_key(|range| range.from);
        let mut merged: Vec<TimeRange> = Vec::with_capacity(all.len());
        for range in all {
            match merged.last_mut() {
                Some(last) if touches(last, &range) => {
                    last.until = last.until.zip(range.until).map(|(a, b)| a.max(b));
                }
                _ => merged.push(range),
            }
        }
        match merged[..] {
            [TimeRange { from: None, until: None }] => Self::ALL,
            _ => Self { ranges: merged },
        }
    }

    /// The text for people, in a zone: `2026-03-01 00:00 until 2026-03-02 00:00` for each range.
    pub fn describe(&self, zone: &Zone) -> String {
        let time = |time: DateTime<Utc>| {
            let local = zone.local(time);
            let seconds = local.timestamp() % 60 != 0;
            local.format(if seconds { "%Y-%m-%d %H:%M:%S" } else { "%Y-%m-%d %H:%M" }).to_string()
        };
        let range = |range: &TimeRange| match (range.from, range.until) {
            (Some(from), Some(until)) => format!("{} until {}", time(from), time(until)),
            (Some(from), None) => format!("since {}", time(from)),
            (None, Some(until)) => format!("before {}", time(until)),
            (None, None) => "always".into(),
        };
        match self.is_all() {
            true => "always".into(),
            false => self.ranges.iter().map(range).collect::<Vec<_>>().join(", or "),
        }
    }
}

impl From<TimeRange> for Timeframe {
    fn from(range: TimeRange) -> Self {
        match range {
            TimeRange { from: None, until: None } => Self::ALL,
            range => Self { ranges: vec![range] },
        }
    }
}

/// Writes the ranges in UTC, in a form that [`TimeExpression`] parses.
impl fmt::Display for Timeframe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = |time: Option<DateTime<Utc>>| {
            time.map(|time| time.to_rfc3339_opts(SecondsFormat::AutoSi, true)).unwrap_or_default()
        };
        for (place, range) in self.ranges.iter().enumerate() {
            let comma = if place == 0 { "" } else { ", " };
            write!(f, "{comma}{}..{}", side(range.from), side(range.until))?;
        }
        Ok(())
    }
}

/// Whether `next`, which does not start before `range`, starts within it or at its end.
fn touches(range: &TimeRange, next: &TimeRange) -> bool {
    match (range.until, next.from) {
        (Some(until), Some(from)) => from <= until,
        _ => true,
    }
}

#[cfg(test)]
mod tests;
