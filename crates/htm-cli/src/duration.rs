//! Durations as people write and read them: `30s`, `15m`, `7d`.

use std::time::Duration;

use htm_core::read_duration;

const UNITS: [(&str, u64); 4] = [("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)];

/// Reads a length of time of the command line.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    read_duration(text).ok_or_else(|| "write a number and a unit: 30s, 15m, 12h, 7d".into())
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
    fn a_duration_without_a_unit_is_refused_with_some_that_have_one() {
        assert_eq!(parse_duration("2w"), Ok(Duration::from_secs(1_209_600)));
        assert!(parse_duration("7").unwrap_err().contains("7d"));
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
