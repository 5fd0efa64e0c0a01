//! Points in time and expiries as people and programs write them.

use std::ops::RangeInclusive;

use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, Utc};

use super::{TimeExpression, TimeSettings};
use crate::model::error::{Error, Result, codes};
use crate::model::expiry::{Expiry, read_duration};

/// The seconds by which the zones of the world differ from UTC.
const ZONES: RangeInclusive<i32> = -12 * 3_600..=14 * 3_600;

/// Reads a point in time as people write it: a time of RFC 3339, or a [`TimeExpression`], which stands for its beginning
/// ([`TimeExpression::begins`]).
///
/// # Errors
/// `timeframe_invalid`, `time_without_beginning` (`before 2020`), or as [`TimeExpression::resolve`].
pub fn read_instant(text: &str, now: DateTime<Utc>, settings: &TimeSettings) -> Result<DateTime<Utc>> {
    if let Ok(time) = DateTime::parse_from_rfc3339(text.trim()) {
        return Ok(time.to_utc());
    }
    text.parse::<TimeExpression>()?.begins(now, settings)?.ok_or_else(|| {
        let text: String = text.chars().take(200).collect();
        Error::new(codes::TIME_WITHOUT_BEGINNING, format!("`{text}` has no beginning"))
    })
}

/// Reads an expiry as people write it: a time to live such as `12h` or `in 12 hours`, or a point in time.
///
/// # Errors
/// As [`read_instant`], with a hint about what an expiry may be.
pub fn read_expiry(text: &str, now: DateTime<Utc>, settings: &TimeSettings) -> Result<Expiry> {
    let text = text.trim();
    if let Some(ttl) = read_duration(text.strip_prefix("in ").unwrap_or(text)) {
        return Ok(Expiry::After(ttl));
    }
    let error = match read_instant(text, now, settings) {
        Ok(at) => return Ok(Expiry::At(at)),
        Err(error) if error.is(codes::TIMEFRAME_INVALID) => {
            let text: String = text.chars().take(200).collect();
            Error::new(codes::TIMEFRAME_INVALID, format!("`{text}` is no expiry"))
        }
        Err(error) => error,
    };
    // The hint of a timeframe is about the past.
    Err(error.with_hint(
        "give a time to live (30m, 12h, 90d, 2w, 1y, 1h30m), or a future day or time (2030-01-01, 2030-01-01 12:00, \
         tomorrow, next Friday)",
    ))
}

/// Reads a time as programs write it: of RFC 3339, or one without its seconds, its zone or both. It is of UTC if it names no
/// zone, as is the midnight of a day alone.
pub fn read_timestamp(text: &str) -> Option<DateTime<Utc>> {
    let text = text.trim();
    if has_span(text) {
        return None;
    }
    let forms = ["%FT%T%.f", "%F %T%.f", "%FT%H:%M", "%F %H:%M"];
    let zoned = || forms.iter().find_map(|form| DateTime::parse_from_str(text, &format!("{form}%#z")).ok());
    if let Some(time) = DateTime::parse_from_rfc3339(text).ok().or_else(zoned) {
        let is_zone = ZONES.contains(&time.offset().local_minus_utc());
        return is_zone.then(|| time.to_utc());
    }
    let naive = forms.iter().find_map(|form| NaiveDateTime::parse_from_str(text, form).ok());
    let day = || NaiveDate::parse_from_str(text, "%F").ok().map(|day| day.and_time(NaiveTime::MIN));
    naive.or_else(day).map(|time| time.and_utc())
}

/// Whether a text has two times of a day, such as `16:00-17:30`, of which the second one is no zone.
fn has_span(text: &str) -> bool {
    let time = text.split_once(' ').and_then(|(_, time)| time.split_once(['+', '-', '−']));
    time.is_some_and(|(time, _)| !time.ends_with(' ') && time.matches(':').count() == 1)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_point_in_time_is_itself_or_the_beginning_of_its_words() {
        let noon: DateTime<Utc> = "2026-03-01T12:00:00Z".parse().unwrap();
        let read = |text: &str| read_instant(text, noon, &TimeSettings::default());
        for text in ["2026-03-01T13:00:00+01:00", " 2026-03-01T12:00:00Z ", "2026-03-01 12:00", "now"] {
            assert_eq!(read(text).unwrap(), noon, "{text}");
        }
        assert_eq!(read("yesterday").unwrap().to_rfc3339(), "2026-02-28T00:00:00+00:00");
        assert_eq!(read("last blue moon").unwrap_err().code(), "timeframe_invalid");
        let endless = read("before 2020").unwrap_err();
        assert_eq!(
            (endless.code(), endless.to_string().as_str()),
            ("time_without_beginning", "`before 2020` has no beginning")
        );
    }

    #[test]
    fn an_expiry_is_a_time_to_live_or_a_time() {
        let read = |text: &str| read_expiry(text, Utc::now(), &TimeSettings::default());
        let hours = |hours: u64| Expiry::After(Duration::from_secs(hours * 3_600));
        for (text, expected) in [
            ("12h", hours(12)),
            (" 2w ", hours(14 * 24)),
            ("1y", hours(365 * 24)),
            ("in 2 hours", hours(2)),
            ("2030-01-01 12:00", Expiry::At("2030-01-01T12:00:00Z".parse().unwrap())),
        ] {
            assert_eq!(read(text).unwrap(), expected, "{text}");
        }
        for text in ["soonish", "1.5h", "-1s", "3 months"] {
            let refused = read(text).unwrap_err();
            assert_eq!(
                (refused.code(), refused.to_string()),
                ("timeframe_invalid", format!("`{text}` is no expiry"))
            );
            assert!(refused.hint().contains("30m, 12h, 90d") && !refused.hint().contains("yesterday"));
        }
        let endless = read("before 2020").unwrap_err();
        assert_eq!(endless.code(), "time_without_beginning");
        assert!(endless.hint().starts_with("give a time to live"));
    }
}
