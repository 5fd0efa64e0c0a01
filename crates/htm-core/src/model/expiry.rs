//! The expiry of a memory.

use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::model::error::{Error, Result, codes};

/// The longest time to live, and the longest time of a retention policy: a century.
pub(crate) const LONGEST: Duration = Duration::from_secs(100 * 366 * 86_400);

/// The units of a length of time, in seconds. A year has 365 days; months differ too much.
const UNITS: [(&[&str], u64); 6] = [
    (&["s", "sec", "secs", "second", "seconds"], 1),
    (&["m", "min", "mins", "minute", "minutes"], 60),
    (&["h", "hour", "hours"], 3_600),
    (&["d", "day", "days"], 86_400),
    (&["w", "week", "weeks"], 7 * 86_400),
    (&["y", "year", "years"], 365 * 86_400),
];

/// Reads a length of time as people write it: whole numbers with units, such as `90d`, `1h30m` or `2 weeks`.
pub fn read_duration(text: &str) -> Option<Duration> {
    let mut rest = text.trim();
    let mut seconds = (!rest.is_empty()).then_some(0_u64)?;
    while !rest.is_empty() {
        let digits = rest.find(|it: char| !it.is_ascii_digit())?;
        let (number, behind) = rest.split_at(digits);
        let behind = behind.trim_start();
        let letters = behind.find(|it: char| !it.is_ascii_alphabetic()).unwrap_or(behind.len());
        let (unit, behind) = behind.split_at(letters);
        let (_, length) = UNITS.iter().find(|(names, _)| names.contains(&unit))?;
        seconds = seconds.checked_add(number.parse::<u64>().ok()?.checked_mul(*length)?)?;
        rest = behind.trim_start();
    }
    Some(Duration::from_secs(seconds))
}

/// The expiry of a memory. The next sweep of a worker forgets an expired memory. Until then recall finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expiry {
    /// At this time, which is to come. Imports alone bring memories that have expired.
    At(DateTime<Utc>),
    /// After this time to live, in whole seconds, by the database's clock. [`Htm::refresh`](crate::Htm::refresh) starts
    /// it again.
    After(Duration),
}

impl Expiry {
    /// Checks the range of a time to live.
    pub(crate) fn validate_ttl(&self) -> Result<()> {
        match *self {
            Self::After(ttl) if !(Duration::from_secs(1)..=LONGEST).contains(&ttl) => {
                let message =
                    format!("a time to live of {} s is outside 1 second to 100 years", ttl.as_secs_f64());
                Err(Error::new(codes::EXPIRY_OUT_OF_RANGE, message))
            }
            _ => Ok(()),
        }
    }

    /// Checks that it has not passed at a time of the database.
    pub(crate) fn validate_at(self, now: DateTime<Utc>) -> Result<()> {
        match self.at().filter(|at| *at <= now) {
            None => Ok(()),
            Some(at) => {
                let message = format!("the expiry {at} has passed: the database's clock says {now}");
                Err(Error::new(codes::EXPIRY_PASSED, message))
            }
        }
    }

    /// The time, if it is fixed.
    pub(crate) fn at(self) -> Option<DateTime<Utc>> {
        match self {
            Self::At(at) => Some(at),
            Self::After(_) => None,
        }
    }

    /// The time to live in seconds, if there is one.
    pub(crate) fn ttl_seconds(self) -> Option<i64> {
        match self {
            Self::At(_) => None,
            Self::After(ttl) => Some(ttl.as_secs() as i64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_time_are_read() {
        for (text, seconds) in [
            ("0s", 0),
            ("30s", 30),
            ("15m", 900),
            ("12h", 43_200),
            ("7d", 604_800),
            ("2w", 1_209_600),
            ("1y", 31_536_000),
            ("1h30m", 5_400),
            (" 1 day 12 hours ", 129_600),
            ("2 weeks", 1_209_600),
        ] {
            assert_eq!(read_duration(text), Some(Duration::from_secs(seconds)), "{text}");
        }
        let huge = ["99999999999999999999d", "999999999999999999d", "18446744073709551615s 1s"];
        let others = ["", " ", "7", "d", "-1d", "1.5h", "1h30", "3 months", "1h, 2m", "２h", "h1"];
        for text in huge.into_iter().chain(others) {
            assert_eq!(read_duration(text), None, "{text}");
        }
    }

    #[test]
    fn times_to_live_have_a_range() {
        let code = |expiry: Expiry| expiry.validate_ttl().err().map(|error| error.code());
        assert_eq!(code(Expiry::After(Duration::from_millis(999))), Some("expiry_out_of_range"));
        assert_eq!(code(Expiry::After(Duration::MAX)), Some("expiry_out_of_range"));
        assert_eq!(code(Expiry::After(Duration::from_secs(1))), None);
        assert_eq!(code(Expiry::After(LONGEST)), None);
        assert_eq!(code(Expiry::At(Utc::now())), None);
        let none = Expiry::After(Duration::ZERO).validate_ttl().unwrap_err();
        assert!(none.to_string().starts_with("a time to live of 0 s is outside"), "{none}");
    }

    #[test]
    fn a_time_that_has_passed_is_refused() {
        let now = Utc::now();
        let code = |expiry: Expiry| expiry.validate_at(now).err().map(|error| error.code());
        assert_eq!(code(Expiry::At(now)), Some("expiry_passed"));
        assert_eq!(code(Expiry::At(now + Duration::from_secs(1))), None);
        assert_eq!(code(Expiry::After(Duration::from_secs(1))), None);
    }
}
