//! The expiry of a memory.

use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::model::error::{Error, Result, codes};

/// The longest time to live, and the longest time of a retention policy: a century.
pub(crate) const LONGEST: Duration = Duration::from_secs(100 * 366 * 86_400);

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
                let message = format!("a time to live of {ttl:?} is outside 1 second to 100 years");
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
    fn times_to_live_have_a_range() {
        let code = |expiry: Expiry| expiry.validate_ttl().err().map(|error| error.code());
        assert_eq!(code(Expiry::After(Duration::from_millis(999))), Some("expiry_out_of_range"));
        assert_eq!(code(Expiry::After(Duration::MAX)), Some("expiry_out_of_range"));
        assert_eq!(code(Expiry::After(Duration::from_secs(1))), None);
        assert_eq!(code(Expiry::After(LONGEST)), None);
        assert_eq!(code(Expiry::At(Utc::now())), None);
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
