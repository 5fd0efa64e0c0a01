//! Time expressions: parsed, displayed and resolved.

use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, Utc};

use super::calendar::Calendar;
use super::grammar::{Parser, Part};
use super::tokens::tokens;
use super::{TimeRange, TimeSettings, Timeframe};
use crate::model::error::{Error, Result, codes};

/// The most parts of an expression. Each is a range that the database compares with.
pub(super) const MAX_PARTS: usize = 64;

/// A time as people write it. It is parsed once and resolved at each use.
///
/// Days, weeks, months and years are those of the calendar in the time zone of the settings. A range is from its start
/// (inclusive) until its end (exclusive), also in an hour that clocks skip or repeat. *n* is the instant of resolution,
/// and *D* is its day:
///
/// | expression | means |
/// |---|---|
/// | nothing | always |
/// | `2026-03-01`, `1.3.2026`, `3 March 2026`, `March 3, 2026` | that day |
/// | `2026-03`, `March 2026`, `2026` | that month, that year |
/// | `Q1 2026`, `2026 Q1` | that quarter |
/// | `3 March`, `March`, `Q1`, `Monday`, `weekend` | the latest that has begun |
/// | `2026-03-01T12:00:00Z`, `2026-03-01 12:00`, `yesterday at 17:00` | the day of that instant; in a range, and after `since`, the instant |
/// | `A..B`, `A..`, `..B` | from the start of A until the start of B |
/// | `from A to B`, `between A and B` | from the start of A until the **end** of B; an A without a year, as `Monday` and `last Monday` are, is the latest before B |
/// | `since A`, `after A` | from the start of A, from the end of A |
/// | `before A`, `until A` | until the start of A, until the end of A |
/// | `A, B`, `A or B`, `A and B`, `A & B`, `A as well as B`; `either` or `both` before A | either |
/// | `after A and before B`, and so each open start with an open end | from one to the other |
/// | `today`, `yesterday`, `tomorrow` | D, the day before it, the day after it |
/// | `this morning`, `this afternoon`, `this evening` | 06:00–12:00, 12:00–18:00, 18:00–24:00 of D; so `yesterday evening`, `Monday morning` |
/// | `tonight`, `last night` | 18:00 of D (of the day before) until 06:00 of the next day |
/// | `last N minutes`, `past N hours` | from that long before n until n |
/// | `last N days`, `weeks`, `months`, `quarters`, `years` | from the same time of the day so many of them back until n; a month without that day gives its last day |
/// | `past week`, `last hour`, `last day` | as with 1 for N |
/// | `next N days` | from n until that much later |
/// | `N days ago`, and so each unit | the whole minute, hour, day, week, month or year that is N units back |
/// | `recently` | `last 3 days` |
/// | `this week`, `last week`, `next week` | the week of D, the one before, the one after; so month, quarter, year, weekend |
/// | `this weekend` | Saturday and Sunday of the ISO week of D |
/// | `last Monday`, `next Monday`, `this Monday` | the latest before D, the first after D, the one of the week of D |
/// | `last March`, `next March`, `this March`, `last Q1` | the latest before this month, the first after it, that of this year |
/// | `March last year`, `Q1 last year`, `Monday last week`, `Monday of this week` | that of the year, of the week |
/// | `week before last`, `weekend before last` | two before this one |
///
/// N is a number, `a`, `one` to `twelve`, `a couple of` (2), `few` or `several` (3). Capitals, and `in`, `on`,
/// `during`, `the` before a time, make no difference.
///
/// ```
/// use htm_core::{TimeExpression, TimeSettings};
/// let last_month: TimeExpression = "last month".parse()?;
/// let now = "2026-01-31T10:00:00Z".parse().unwrap();
/// let december = last_month.resolve(now, &TimeSettings::default())?;
/// assert_eq!(december.to_string(), "2025-12-01T00:00:00Z..2026-01-01T00:00:00Z");
/// assert_eq!("last blue moon".parse::<TimeExpression>().unwrap_err().code(), "timeframe_invalid");
/// # Ok::<(), htm_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct TimeExpression {
    text: String,
    parts: Vec<Part>,
}

impl TimeExpression {
    pub(super) fn new(text: String, parts: Vec<Part>) -> Self {
        Self { text, parts }
    }

    /// Resolves the expression at the instant `now`.
    ///
    /// # Errors
    /// `timeframe_reversed` when it ends before it starts, `timeframe_invalid` when the calendar does not reach that
    /// far or the zone skipped all of it, `time_out_of_range` outside of the years 1 to 9999.
    pub fn resolve(&self, now: DateTime<Utc>, settings: &TimeSettings) -> Result<Timeframe> {
        let invalid = |reason: &str| invalid(&self.text, reason);
        let calendar = Calendar::new(now, settings).map_err(|_| invalid("no calendar reaches today"))?;
        let mut all: Option<Timeframe> = None;
        for part in &self.parts {
            let (from, until) =
                calendar.extent(part).map_err(|_| invalid("it is further away than the calendar reaches"))?;
            if !part.has_two_sides() && from.is_some() && from == until {
                return Err(invalid(&format!("there is no such time in {}", settings.zone)));
            }
            let one = TimeRange::told_in(&settings.zone, from, until);
            let one: Timeframe = one.map_err(|error| self.reversed(part).unwrap_or(error))?.into();
            all = Some(all.map_or_else(|| one.clone(), |all| all.or(&one)));
        }
        Ok(all.unwrap_or(Timeframe::ALL))
    }

    /// The error of `A to B` if B is before A. It quotes the text: the computed end is the end of a period, which
    /// nobody wrote.
    fn reversed(&self, part: &Part) -> Option<Error> {
        let Part::Through(from, to) = part else { return None };
        let text: String = self.text.chars().take(200).collect();
        let reversed =
            Error::new(codes::TIMEFRAME_REVERSED, format!("the timeframe `{text}` ends before it starts"));
        // A day that the zone skipped is its own end.
        (from != to).then(|| reversed.with_hint("swap its start and its end"))
    }

    /// The start, resolved at the instant `now`. A point in time (`now`, `2026-03-01T12:00`) is itself, not its day.
    /// None if there is no start (`before 2020`).
    ///
    /// # Errors
    /// As [`resolve`](Self::resolve).
    pub fn begins(&self, now: DateTime<Utc>, settings: &TimeSettings) -> Result<Option<DateTime<Utc>>> {
        let begins = match &self.parts[..] {
            [Part::During(period)] if period.is_instant() => {
                Self::new(self.text.clone(), vec![Part::Since(period.clone())]).resolve(now, settings)?
            }
            _ => self.resolve(now, settings)?,
        };
        Ok(begins.from())
    }
}

/// Whether a text looks like the seconds or milliseconds since 1970.
fn is_unix_time(text: &str) -> bool {
    let text = text.trim();
    text.len() >= 9 && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn invalid(text: &str, reason: &str) -> Error {
    Error::new(codes::TIMEFRAME_INVALID, format!("`{text}` is not a timeframe: {reason}"))
}

impl FromStr for TimeExpression {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let tokens = tokens(text);
        let mut parser = Parser::new(&tokens);
        match parser.whole() {
            Some(parts) if parts.len() > MAX_PARTS => {
                let reason = format!("it has {} parts, more than {MAX_PARTS}", parts.len());
                Err(invalid(&text.chars().take(200).collect::<String>(), &reason))
            }
            Some(parts) => Ok(Self::new(text.trim().into(), parts)),
            None => {
                let reason = match (parser.no_day(), tokens.get(parser.furthest())) {
                    _ if is_unix_time(text) => {
                        "a Unix time is not understood; write it as 2026-03-01T12:00:00Z".into()
                    }
                    (Some(no_day), _) => no_day.to_string(),
                    (None, Some(token)) => format!("`{}` is not understood", &text[token.span.clone()]),
                    (None, None) => "something is missing at its end".into(),
                };
                Err(invalid(&text.chars().take(200).collect::<String>(), &reason))
            }
        }
    }
}

/// Writes the expression as it was given.
impl fmt::Display for TimeExpression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests;
