//! Points in time as people read them.

use chrono::{DateTime, SecondsFormat, Utc};
use htm_core::Zone;

/// A time for people, in the zone of the settings. It has the zone's offset, as lists of other programs beside it may not
/// be in the same zone.
pub(crate) fn local(at: DateTime<Utc>, zone: &Zone) -> String {
    zone.local(at).to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// As [`local`], or a dash for none.
pub(crate) fn local_or_dash(at: Option<DateTime<Utc>>, zone: &Zone) -> String {
    at.map_or("–".into(), |at| local(at, zone))
}

/// As [`local`], as exact as it is stored: for a time that is given to another command, such as `--as-of`.
pub(crate) fn exact(at: DateTime<Utc>, zone: &Zone) -> String {
    zone.local(at).to_rfc3339_opts(SecondsFormat::AutoSi, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shown_time_says_its_zone() {
        let at = "2026-11-26T15:00:00.123456Z".parse().unwrap();
        for (zone, shown) in [("UTC", "2026-11-26T15:00:00Z"), ("Asia/Tokyo", "2026-11-27T00:00:00+09:00")] {
            assert_eq!(local(at, &zone.parse().unwrap()), shown);
        }
    }
}
