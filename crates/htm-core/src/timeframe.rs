//! When a memory was made: the filter that every strategy takes.

use std::str::FromStr;

use chrono::{DateTime, Days, NaiveDate, NaiveTime, Utc};

use crate::error::{Error, Result};

/// A range of time, its start inclusive, its end exclusive, either side open when it is none.
///
/// ```
/// use htm_core::Timeframe;
/// let march: Timeframe = "2026-03-01..2026-04-01".parse().unwrap();
/// let one_day: Timeframe = "2026-03-01".parse().unwrap();
/// assert_eq!(march.from(), one_day.from());
/// assert_eq!("2026-04-01..2026-03-01".parse::<Timeframe>().unwrap_err().code(), "timeframe_reversed");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timeframe {
    from: Option<DateTime<Utc>>,
    until: Option<DateTime<Utc>>,
}

impl Timeframe {
    /// No filter.
    pub const ALL: Timeframe = Timeframe { from: None, until: None };

    /// From `from` (inclusive) until `until` (exclusive).
    ///
    /// # Errors
    /// `timeframe_reversed` when it does not end after its start, `time_out_of_range` before 4713 BC.
    pub fn new(from: Option<DateTime<Utc>>, until: Option<DateTime<Utc>>) -> Result<Self> {
        for time in [from, until].into_iter().flatten() {
            crate::memory::validate_time(time)?;
        }
        match (from, until) {
            (Some(from), Some(until)) if until <= from => Err(Error::TimeframeReversed { from, until }),
            _ => Ok(Self { from, until }),
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
}

impl FromStr for Timeframe {
    type Err = Error;

    /// A day, an instant (the day or the second that starts there), or `FROM..UNTIL`; a day as `UNTIL` is
    /// excluded, as the day after the last. Days are UTC.
    fn from_str(text: &str) -> Result<Self> {
        let invalid = || Error::TimeframeInvalid { value: text.into() };
        let side = |text: &str| -> Result<Option<DateTime<Utc>>> {
            if text.is_empty() {
                Ok(None)
            } else {
                Point::parse(text).map(|p| Some(p.start)).ok_or_else(invalid)
            }
        };
        match text.trim().split_once("..") {
            Some(("", "")) => Err(invalid()),
            Some((from, until)) => Self::new(side(from.trim())?, side(until.trim())?),
            None => {
                let point = Point::parse(text.trim()).ok_or_else(invalid)?;
                Self::new(Some(point.start), point.end)
            }
        }
    }
}

/// What one date or instant covers.
struct Point {
    start: DateTime<Utc>,
    end: Option<DateTime<Utc>>,
}

impl Point {
    fn parse(text: &str) -> Option<Self> {
        if let Ok(day) = text.parse::<NaiveDate>() {
            let start = day.and_time(NaiveTime::MIN).and_utc();
            return Some(Self { start, end: start.checked_add_days(Days::new(1)) });
        }
        let start = DateTime::parse_from_rfc3339(text).ok()?.to_utc();
        Some(Self { start, end: start.checked_add_signed(chrono::TimeDelta::seconds(1)) })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn open_sides() {
        let since: Timeframe = "2026-03-01T10:00:00+02:00..".parse().unwrap();
        assert_eq!(since.from().unwrap().to_rfc3339(), "2026-03-01T08:00:00+00:00");
        assert_eq!(since.until(), None);
        let before: Timeframe = "..2026-03-01".parse().unwrap();
        assert_eq!(
            (before.from(), before.until().unwrap().to_rfc3339().as_str()),
            (None, "2026-03-01T00:00:00+00:00")
        );
    }

    #[test]
    fn what_is_not_understood_is_an_error() {
        for text in ["", "..", "2026-02-30", "last blue moon", "2026-03-01..x", "2026-03-01 12:00"] {
            assert_eq!(text.parse::<Timeframe>().unwrap_err().code(), "timeframe_invalid", "{text}");
        }
        assert_eq!("2026-03-01..2026-03-01".parse::<Timeframe>().unwrap_err().code(), "timeframe_reversed");
    }

    proptest! {
        #[test]
        fn a_day_covers_itself_and_no_other(offset in 0i64..20_000) {
            let day = NaiveDate::from_ymd_opt(1990, 1, 1).unwrap() + chrono::TimeDelta::days(offset);
            let frame: Timeframe = day.to_string().parse().unwrap();
            prop_assert_eq!(frame.from().unwrap().date_naive(), day);
            prop_assert_eq!(frame.until().unwrap() - frame.from().unwrap(), chrono::TimeDelta::days(1));
        }
    }
}
