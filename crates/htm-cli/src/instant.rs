//! Points in time as people write them, a day, a time, or words, and as they read them.

use chrono::{DateTime, SecondsFormat, Utc};
use htm_core::error::codes::TIMEFRAME_INVALID;
use htm_core::{Expiry, TimeExpression, TimeSettings, Zone, read_duration};

use crate::commands::edit::usage;
use crate::error::CliError;
use crate::output::one_line;

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

/// A time for people, in the zone of the settings. It has the zone's offset, as lists of other programs beside it may not
/// be in the same zone.
pub(crate) fn local(at: DateTime<Utc>, zone: &Zone) -> String {
    zone.local(at).to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// As [`local`], as exact as it is stored: for a time that is given to another command, such as `--as-of`.
pub(crate) fn exact(at: DateTime<Utc>, zone: &Zone) -> String {
    zone.local(at).to_rfc3339_opts(SecondsFormat::AutoSi, true)
}

/// Parses an expiry: a time to live such as `12h`, also `in 12 hours`, or a time.
pub(crate) fn expiry(text: &str, settings: &TimeSettings) -> Result<Expiry, CliError> {
    let text = text.trim();
    if let Some(ttl) = read_duration(text.strip_prefix("in ").unwrap_or(text)) {
        return Ok(Expiry::After(ttl));
    }
    // The help of a timeframe is about the past.
    let refused = |error: CliError| match error.code == TIMEFRAME_INVALID.name {
        true => CliError { message: format!("`{}` is no expiry", one_line(text, 200)), ..error },
        false => error,
    };
    let hint = "give a time to live (30m, 12h, 90d, 2w, 1y, 1h30m), or a future day or time (2030-01-01, 2030-01-01 12:00, \
                tomorrow, next Friday)";
    instant(text, settings).map(Expiry::At).map_err(|error| refused(error).with_hint(hint))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn an_expiry_is_a_time_to_live_or_a_time() {
        let settings = TimeSettings::default();
        let hours = |hours: u64| Expiry::After(Duration::from_secs(hours * 3_600));
        for (text, expected) in [
            ("12h", hours(12)),
            ("2w", hours(14 * 24)),
            ("1y", hours(365 * 24)),
            ("in 2 hours", hours(2)),
            ("2030-01-01 12:00", Expiry::At("2030-01-01T12:00:00Z".parse().unwrap())),
        ] {
            assert_eq!(expiry(text, &settings).unwrap(), expected, "{text}");
        }
        for text in ["soonish", "1.5h", "-1s", "3 months"] {
            let refused = expiry(text, &settings).unwrap_err();
            assert_eq!(
                (refused.code, refused.message),
                ("timeframe_invalid", format!("`{text}` is no expiry"))
            );
            assert!(refused.hint.contains("30m, 12h, 90d") && !refused.hint.contains("yesterday"));
        }
    }

    #[test]
    fn a_shown_time_says_its_zone() {
        let at = "2026-11-26T15:00:00.123456Z".parse().unwrap();
        for (zone, shown) in [("UTC", "2026-11-26T15:00:00Z"), ("Asia/Tokyo", "2026-11-27T00:00:00+09:00")] {
            assert_eq!(local(at, &zone.parse().unwrap()), shown);
        }
    }
}
