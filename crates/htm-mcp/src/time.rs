//! Points in time and expiries, as models write them.

use chrono::{DateTime, Utc};
use htm_core::error::codes::TIMEFRAME_INVALID;
use htm_core::{Expiry, TimeExpression, TimeSettings, read_duration};

use crate::codes;
use crate::error::ToolError;

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

/// Parses a time to live such as `12h`, also `in 12 hours`, or a time.
pub(crate) fn expiry(text: &str, settings: &TimeSettings) -> Result<Expiry, ToolError> {
    let text = text.trim();
    if let Some(ttl) = read_duration(text.strip_prefix("in ").unwrap_or(text)) {
        return Ok(Expiry::After(ttl));
    }
    // The hint of a timeframe is about the past.
    let hint = "give a time to live (30m, 12h, 90d, 2w, 1y), or a future day or time (2030-01-01, tomorrow)";
    instant(text, settings).map(Expiry::At).map_err(|error| match error.code == TIMEFRAME_INVALID.name {
        true => {
            let text: String = text.chars().take(80).collect();
            ToolError::new(TIMEFRAME_INVALID, format!("`{text}` is no expiry")).with_hint(hint)
        }
        false => error.with_hint(hint),
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

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
        let refused = expiry("1.5h", &settings).unwrap_err();
        assert_eq!(refused.code, "timeframe_invalid");
        assert!(refused.text().contains("`1.5h` is no expiry\nnext: give a time to live (30m, 12h"));
    }
}
