//! The time zone and the first day of the week.

use std::ffi::OsStr;
use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, FixedOffset, NaiveDate, Offset, SecondsFormat, Utc};
use jiff::Timestamp;
use jiff::civil::Weekday;
use jiff::tz::TimeZone;

use crate::model::error::{Error, Result, codes};

/// The settings by which a [`TimeExpression`](super::TimeExpression) is resolved.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TimeSettings {
    /// The time zone. Days begin at its midnight.
    pub zone: Zone,
    /// The first day of a week.
    pub week_start: WeekStart,
}

/// The first day of a week.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[derive(serde::Serialize, serde::Deserialize, strum::VariantNames)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum WeekStart {
    /// As ISO 8601 has it.
    #[default]
    Monday,
    /// As in the United States.
    Sunday,
}

impl WeekStart {
    pub(super) fn weekday(self) -> Weekday {
        match self {
            WeekStart::Monday => Weekday::Monday,
            WeekStart::Sunday => Weekday::Sunday,
        }
    }
}

/// A time zone of the IANA database, which is built into the program.
///
/// ```
/// use htm_core::Zone;
/// let berlin: Zone = "Europe/Berlin".parse()?;
/// let late = "2026-03-28T23:30:00Z".parse().unwrap();
/// assert_eq!(berlin.day(late).to_string(), "2026-03-29");
/// assert_eq!("Middle/Earth".parse::<Zone>().unwrap_err().code(), "zone_unknown");
/// # Ok::<(), htm_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Zone(pub(super) TimeZone);

impl Zone {
    /// Coordinated universal time.
    pub const UTC: Zone = Zone(TimeZone::UTC);

    /// An instant in the local time of the zone.
    pub fn local(&self, instant: DateTime<Utc>) -> DateTime<FixedOffset> {
        let seconds = timestamp(instant).map_or(0, |instant| self.0.to_offset(instant).seconds());
        let offset = FixedOffset::east_opt(seconds).unwrap_or(Utc.fix());
        instant.with_timezone(&offset)
    }

    /// An instant for people, in the local time of the zone with its offset.
    pub(crate) fn tell(&self, instant: DateTime<Utc>) -> String {
        self.local(instant).to_rfc3339_opts(SecondsFormat::AutoSi, true)
    }

    /// The day that an instant belongs to.
    pub fn day(&self, instant: DateTime<Utc>) -> NaiveDate {
        self.local(instant).date_naive()
    }
}

impl Default for Zone {
    fn default() -> Self {
        Self::UTC
    }
}

/// Parses a name such as `Europe/Berlin` or `UTC`. `system` is the zone of this machine.
impl FromStr for Zone {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let zone = match name {
            "system" => TimeZone::try_system().map_err(|_| no_system_zone(std::env::var_os("TZ").as_deref())),
            name => TimeZone::get(name).map_err(|_| {
                Error::new(codes::ZONE_UNKNOWN, format!("there is no time zone `{}`", shown(name)))
            }),
        };
        zone.map(Self)
    }
}

/// The error of a machine without a readable zone. The variable TZ is its usual cause.
fn no_system_zone(variable: Option<&OsStr>) -> Error {
    let cause = match variable {
        Some(value) => format!(": TZ is `{}`", shown(&value.to_string_lossy())),
        None => String::new(),
    };
    Error::new(codes::ZONE_UNKNOWN, format!("the system's time zone cannot be read{cause}"))
        .with_hint("set TZ to a name as Europe/Berlin, or give the zone by its name")
}

fn shown(name: &str) -> String {
    name.chars().take(80).collect()
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.iana_name().unwrap_or("the system's time zone"))
    }
}

/// Converts to the calendar's type, which ends with the year 9999; chrono's does not.
pub(super) fn timestamp(instant: DateTime<Utc>) -> Result<Timestamp, jiff::Error> {
    Timestamp::new(instant.timestamp(), instant.timestamp_subsec_nanos() as i32)
}

/// Converts back to chrono's type, which has every instant of the calendar's.
pub(super) fn instant(timestamp: Timestamp) -> DateTime<Utc> {
    DateTime::from_timestamp_nanos(0) + chrono::TimeDelta::microseconds(timestamp.as_microsecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_that_hides_the_systems_zone_is_named() {
        let message = |variable: Option<&str>| no_system_zone(variable.map(OsStr::new)).to_string();
        assert_eq!(message(Some("Nope/X")), "the system's time zone cannot be read: TZ is `Nope/X`");
        assert_eq!(message(None), "the system's time zone cannot be read");
    }
}
