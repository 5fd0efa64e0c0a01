//! Points in time as people write them: a day, a time, or words.

use chrono::{DateTime, Utc};
use htm_core::{Expiry, TimeExpression, TimeSettings};

use crate::commands::edit::usage;
use crate::duration::parse_duration;
use crate::error::CliError;

/// Parses a time as `--timeframe` does, and returns its beginning, in the zone of the settings.
pub(crate) fn instant(text: &str, settings: &TimeSettings) -> Result<DateTime<Utc>, CliError> {
    if let Ok(time) = DateTime::parse_from_rfc3339(text.trim()) {
        return Ok(time.to_utc());
    }
    let begins = text.parse::<TimeExpression>()?.begins(Utc::now(), settings)?;
    begins.ok_or_else(|| {
        usage(
            &format!("`{text}` has no beginning"),
            "use a time that has one: `2026-03-01`, `now` or `3 months ago`",
        )
    })
}

/// Parses an expiry: a time to live such as `12h`, or a time.
pub(crate) fn expiry(text: &str, settings: &TimeSettings) -> Result<Expiry, CliError> {
    match parse_duration(text.trim()) {
        Ok(ttl) => Ok(Expiry::After(ttl)),
        Err(_) => Ok(Expiry::At(instant(text, settings)?)),
    }
}
