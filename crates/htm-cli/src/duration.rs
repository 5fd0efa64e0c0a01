//! Durations as people write and read them: `30s`, `15m`, `7d`.

use std::time::Duration;

const UNITS: [(&str, u64); 4] = [("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)];

/// Reads a whole number and a unit: s, m, h or d.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    let read = UNITS.iter().find_map(|(unit, seconds)| {
        let number: u64 = text.strip_suffix(unit)?.parse().ok()?;
        Some(Duration::from_secs(number.checked_mul(*seconds)?))
    });
    read.ok_or_else(|| "write a number and a unit: 30s, 15m, 12h, 7d".into())
}

/// A length of time in its largest whole unit, such as `3m`.
pub(crate) fn rough(ms: i64) -> String {
    let seconds = ms.max(0) as u64 / 1_000;
    let (unit, length) = UNITS.iter().find(|(_, length)| seconds >= *length).unwrap_or(&("s", 1));
    format!("{}{unit}", seconds / length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read() {
        for (text, seconds) in [("0s", 0), ("30s", 30), ("15m", 900), ("12h", 43_200), ("7d", 604_800)] {
            assert_eq!(parse_duration(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for text in ["", "7", "d", "-1d", "1.5h", "7 d", "1w", "99999999999999999999d", "999999999999999999d"]
        {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn lengths_of_time_are_rough() {
        let lengths = [(-5, "0s"), (999, "0s"), (59_999, "59s"), (60_000, "1m"), (7_200_000, "2h")];
        for (ms, text) in lengths {
            assert_eq!(rough(ms), text);
        }
        assert_eq!(rough(200_000_000), "2d");
    }
}
