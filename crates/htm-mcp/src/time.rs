//! Points in time and expiries, as models write them.

use std::time::Duration;

use chrono::{DateTime, Utc};
use htm_core::{Expiry, TimeExpression, TimeSettings};

use crate::codes;
use crate::error::ToolError;

const UNITS: [(&str, u64); 4] = [("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)];

/// Parses a date, a time or words such as `yesterday`, and returns its beginning.
pub(crate) fn instant(text: &str, settings: &TimeSettings) -> Result<DateTime<Utc>, ToolError> {
    if let Ok(time) = DateTime::parse_from_rfc3339(text.trim()) {
        return Ok(time.to_utc());
    }
    let begins = text.parse::<TimeExpression>()?.begins(Utc::now(), settings)?;
    begins.ok_or_else(|| {
        let text: String = text.chars().take(80).collect();
        ToolError::new(codes::TIME_WITHOUT_BEGINNING, format!("`{text}` has no beginning"))
    })
}

/// Parses a time to live such as `12h`, or a time.
pub(crate) fn expiry(text: &str, settings: &TimeSettings) -> Result<Expiry, ToolError> {
    match ttl(text.trim()) {
        Some(ttl) => Ok(Expiry::After(ttl)),
        None => Ok(Expiry::At(instant(text, settings)?)),
    }
}

fn ttl(text: &str) -> Option<Duration> {
    UNITS.iter().find_map(|(unit, seconds)| {
        let number: u64 = text.strip_suffix(unit)?.parse().ok()?;
        Some(Duration::from_secs(number.checked_mul(*seconds)?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_times_to_live_are_read() {
        let settings = TimeSettings::default();
        let noon = "2026-03-01T12:00:00Z".parse::<DateTime<Utc>>().unwrap();
        assert_eq!(instant("2026-03-01T13:00:00+01:00", &settings).unwrap(), noon);
        assert_eq!(expiry("2026-03-01 12:00", &settings).unwrap(), Expiry::At(noon));
        assert_eq!(expiry("90d", &settings).unwrap(), Expiry::After(Duration::from_secs(90 * 86_400)));
    }

    #[test]
    fn what_is_no_time_is_an_error() {
        let settings = TimeSettings::default();
        assert_eq!(instant("last blue moon", &settings).unwrap_err().code, "timeframe_invalid");
        assert_eq!(instant("before 2020", &settings).unwrap_err().code, "time_without_beginning");
    }
}
