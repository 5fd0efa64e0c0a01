//! Periods: the words for days, weeks and months, and for their numbers.

use std::ops::RangeInclusive;

use chrono::DateTime;
use jiff::civil::{Date, DateTime as LocalTime, Time, Weekday};

use super::{Clarity, Months, NoDay, Parser, PartOfDay, Period, Unit, Which};

pub(in super::super) const NUMBERS: [&str; 12] =
    ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];

impl Parser<'_> {
    /// Parses a period, also a time of a day. A `the` before it is ignored.
    pub(super) fn period(&mut self) -> Option<Period> {
        let period = self.period_without_time()?;
        Some(match (self.time_of(&period), period) {
            (None, period) => period,
            (Some(time), Period::Day(date)) => Period::Local(date.to_datetime(time)),
            (Some(time), day) => Period::At(day.into(), time),
        })
    }

    /// Parses a period. A `the` before it is ignored.
    pub(super) fn period_without_time(&mut self) -> Option<Period> {
        self.attempt(|it| it.word(&["the"]));
        let period = None
            .or_else(|| self.attempt(Self::named_day))
            .or_else(|| self.attempt(Self::before_last))
            .or_else(|| self.attempt(Self::ago))
            .or_else(|| self.attempt(Self::relative))
            .or_else(|| self.attempt(Self::date))
            .or_else(|| self.attempt(Self::bare))?;
        let part = is_day(&period).then(|| self.attempt(Self::part_of_day)).flatten();
        Some(match part {
            Some(part) => Period::PartOfDay(period.into(), part),
            None => period,
        })
    }

    /// `17:00` or `at 17:00` after a day
    pub(super) fn time_of(&mut self, day: &Period) -> Option<Time> {
        if !is_day(day) {
            return None;
        }
        self.attempt(|it| {
            it.attempt(|it| it.word(&["at"]));
            it.take(time_of_day)
        })
    }

    /// `today`, `the day before yesterday`, `last night`, `recently`
    fn named_day(&mut self) -> Option<Period> {
        let today = |part| Period::PartOfDay(Box::new(Period::FromToday(0)), part);
        const WORDS: &[&str] =
            &["today", "yesterday", "tomorrow", "tonight", "recently", "now", "day", "this", "last"];
        Some(match self.word(WORDS)? {
            "today" => Period::FromToday(0),
            "yesterday" => Period::FromToday(-1),
            "tomorrow" => Period::FromToday(1),
            "tonight" => today(PartOfDay::Night),
            "recently" => Period::Back(Unit::Day, 3),
            "now" => {
                self.only(Clarity::Never);
                Period::Now
            }
            "day" => match self.word(&["before", "after"])? {
                "before" => self.word(&["yesterday"]).map(|_| Period::FromToday(-2))?,
                _ => self.word(&["tomorrow"]).map(|_| Period::FromToday(2))?,
            },
            "this" => today(self.part_of_day().filter(|part| *part != PartOfDay::Night)?),
            _ => {
                self.word(&["night"])?;
                Period::PartOfDay(Box::new(Period::FromToday(-1)), PartOfDay::Night)
            }
        })
    }

    fn part_of_day(&mut self) -> Option<PartOfDay> {
        Some(match self.word(&["morning", "afternoon", "evening", "night"])? {
            "morning" => PartOfDay::Morning,
            "afternoon" => PartOfDay::Afternoon,
            "evening" => PartOfDay::Evening,
            _ => PartOfDay::Night,
        })
    }

    /// `weekend before last`
    fn before_last(&mut self) -> Option<Period> {
        let period = match self.word(&["week", "month", "quarter", "year", "weekend"])? {
            "weekend" => Period::Weekend(-2),
            word => Period::Calendar(unit(word)?, -2),
        };
        self.word(&["before"])?;
        self.word(&["last"])?;
        // "the week before last Monday" is something else.
        let goes_on = self.peek().is_some_and(|word| {
            unit(word).is_some() || weekday(word).is_some() || month(word).is_some() || word == "weekend"
        });
        (!goes_on).then_some(period)
    }

    /// `3 days ago`, `a few weeks ago`
    fn ago(&mut self) -> Option<Period> {
        let count = self.count()?;
        let unit = self.take(unit)?;
        self.word(&["ago"])?;
        Some(Period::Ago(unit, count))
    }

    /// `last week`, `past 3 days`, `this Monday`, `next March`
    fn relative(&mut self) -> Option<Period> {
        let this_past = self.attempt(|it| {
            it.word(&["this"])?;
            it.word(&["past"])
        });
        let word = match this_past {
            Some(_) => "past",
            None => self.word(&["last", "past", "this", "next"])?,
        };
        let which = match word {
            "this" => Which::This,
            "next" => Which::Next,
            _ => Which::Last,
        };
        if which != Which::This
            && let Some((count, unit)) = self
                .attempt(|it| Some((it.count()?, it.take(unit)?)))
                .or_else(|| self.attempt(Self::short_time))
        {
            return Some(match which {
                Which::Next => Period::Ahead(unit, count),
                _ => Period::Back(unit, count),
            });
        }
        let offset = match which {
            Which::Last => -1,
            Which::Next => 1,
            _ => 0,
        };
        if word != "past" {
            if self.attempt(|it| it.word(&["weekend"])).is_some() {
                return Some(Period::Weekend(offset));
            }
            if let Some(weekday) = self.attempt(|it| it.take(weekday)) {
                return Some(Period::Weekday(which, weekday));
            }
            if let Some(month) = self.attempt(|it| it.take(month)) {
                return Some(Period::MonthNamed(which, one(month)));
            }
            // "is this Q4 model slow"
            if let Some(quarter) = self.attempt(|it| it.take(quarter)) {
                self.only(Clarity::Led);
                self.loose = true;
                return Some(Period::MonthNamed(which, quarter));
            }
        }
        let unit = self.take(|text| unit(text).filter(|_| !text.ends_with('s')))?;
        // "the last quarter mile"
        self.loose |= unit == Unit::Quarter;
        match (word, unit) {
            ("last" | "this" | "next", Unit::Week | Unit::Month | Unit::Quarter | Unit::Year) => {
                Some(Period::Calendar(unit, offset))
            }
            // "the last day", "the past year": this long until now.
            ("last" | "past", _) => {
                if this_past.is_none() {
                    self.only(Clarity::Led);
                }
                Some(Period::Back(unit, 1))
            }
            _ => None,
        }
    }

    /// `2026-03-01`, `1.3.2026`, `3 March 2026`, `March 3rd, 2026`, `March 2026`, `Q1 2026`, `2026`
    fn date(&mut self) -> Option<Period> {
        if let Some(period) = self.quarter() {
            return Some(period);
        }
        // In a sentence, `1.4.2026` may be a version.
        let has_stops = self.peek().and_then(date_with_stops).is_some();
        if let Some(period) = self.attempt(|it| it.take(numeric)) {
            self.only(if has_stops { Clarity::Alone } else { Clarity::Led });
            self.loose = matches!(period, Period::Year(_));
            return Some(period);
        }
        if let Some((year, month, day)) = self.peek().and_then(date_in_digits) {
            self.keep_no_day(Some(year), month, day);
        }
        let is_before_month = self.is_before_month();
        let day = |text| number_of_day(text).filter(|(day, _)| is_before_month || DAYS.contains(day));
        if let Some((day, is_ordinal)) = self.attempt(|it| it.take(day)) {
            self.attempt(|it| it.word(&["of"]));
            let month = self.month()?;
            return self.month_day(month, day, is_ordinal);
        }
        let month = self.month()?;
        // "in May 2 years ago": a count, not the second of May.
        let day = self.attempt(|it| {
            let day = it.take(number_of_day)?;
            if it.peek().and_then(unit).is_some() {
                return None;
            }
            // "in March 45 people came": the month alone is a time.
            if !DAYS.contains(&day.0) {
                it.keep_no_day(None, month, day.0);
                return None;
            }
            Some(day)
        });
        if let Some((day, is_ordinal)) = day {
            return self.month_day(month, day, is_ordinal);
        }
        Some(self.in_year(one(month)))
    }

    /// `Q1 2026`, `2026 Q1`, `Q1 last year`, `Q1`
    fn quarter(&mut self) -> Option<Period> {
        let period = match self.attempt(|it| Some((it.take(year)?, it.take(quarter)?))) {
            Some((year, quarter)) => Period::Month(year, quarter),
            None => {
                let quarter = self.take(quarter)?;
                self.in_year(quarter)
            }
        };
        // In a sentence, `Q4` alone may be anything.
        let is_alone = matches!(period, Period::MonthNamed(..));
        self.only(if is_alone { Clarity::Alone } else { Clarity::Led });
        Some(period)
    }

    /// Months of the year that follows; the latest if none does.
    fn in_year(&mut self, months: Months) -> Period {
        if let Some(year) = self.attempt(|it| it.take(year)) {
            return Period::Month(year, months);
        }
        if let Some(years) = self.attempt(|it| it.of_which("year")) {
            return Period::MonthOfYear(years, months);
        }
        self.only(Clarity::Led);
        Period::MonthNamed(Which::Latest, months)
    }

    /// A month, with the full stop of a short one before a day or a year: `Sep. 5`.
    fn month(&mut self) -> Option<i8> {
        let (name, month) = self.take(|text| Some((text, month(text)?)))?;
        if let [stop, number, ..] = &self.tokens[self.at..]
            && is_short_month(name)
            && stop.text == "."
            && number.text.starts_with(|first: char| first.is_ascii_digit())
        {
            self.at += 1;
        }
        Some(month)
    }

    fn month_day(&mut self, month: i8, day: i8, is_ordinal: bool) -> Option<Period> {
        let year = self.attempt(|it| {
            it.comma();
            it.take(year)
        });
        self.keep_no_day(year, month, day);
        match year {
            Some(year) => Date::new(year, month, day).ok().map(Period::Day),
            None => {
                if !is_ordinal {
                    self.only(Clarity::Led);
                }
                Date::new(LEAP_YEAR, month, day).ok().map(|_| Period::MonthDay(month, day))
            }
        }
    }

    /// Keeps a day that its month does not have, for the error. The first one is where the text stops being a time.
    fn keep_no_day(&mut self, year: Option<i16>, month: i8, day: i8) {
        if self.no_day.is_none() && Date::new(year.unwrap_or(LEAP_YEAR), month, day).is_err() {
            self.no_day = Some(NoDay { year, month, day });
        }
    }

    /// Whether a month follows the next token, also after `of`.
    fn is_before_month(&self) -> bool {
        let word = |at: usize| self.tokens.get(at).map(|token| token.text.as_str());
        let after = self.at + 1;
        let at = after + usize::from(word(after) == Some("of"));
        word(at).and_then(month).is_some()
    }

    /// `Monday`, `Monday last week`, `weekend`
    fn bare(&mut self) -> Option<Period> {
        if self.attempt(|it| it.word(&["weekend"])).is_some() {
            self.only(Clarity::Led);
            self.loose = true;
            return Some(Period::LatestWeekend);
        }
        let weekday = self.take(weekday)?;
        if let Some(weeks) = self.attempt(|it| it.of_which("week")) {
            return Some(Period::WeekdayOfWeek(weeks, weekday));
        }
        self.only(Clarity::Led);
        Some(Period::Weekday(Which::Latest, weekday))
    }

    /// `last year`, `of this week`: the number of units from the current one.
    fn of_which(&mut self, unit: &'static str) -> Option<i32> {
        self.attempt(|it| it.word(&["of"]));
        let which = self.word(&["last", "this", "next"])?;
        self.word(&[unit])?;
        Some(match which {
            "last" => -1,
            "this" => 0,
            _ => 1,
        })
    }

    /// `24h`, `3d`, `2w`, `1y`. In a sentence, `the last 3d model` is none.
    fn short_time(&mut self) -> Option<(i64, Unit)> {
        self.only(Clarity::Never);
        self.take(short_time)
    }

    /// A number: `3`, `three`, `a`, `a few`, `several`, `a couple of`
    fn count(&mut self) -> Option<i64> {
        let article = self.attempt(|it| it.word(&["a", "an"]));
        let count = self.attempt(|it| {
            let vague = it.word(&["few", "several", "couple"])?;
            if vague == "couple" {
                it.attempt(|it| it.word(&["of"]));
            }
            Some(if vague == "couple" { 2 } else { 3 })
        });
        if count.is_some() || article.is_some() {
            return Some(count.unwrap_or(1));
        }
        self.take(|text| match NUMBERS.iter().position(|number| *number == text) {
            Some(position) => Some(position as i64 + 1),
            None if text.bytes().all(|byte| byte.is_ascii_digit()) => text.parse().ok().filter(|it| *it > 0),
            None => None,
        })
    }
}

/// Whether it is one whole day.
fn is_day(period: &Period) -> bool {
    let is_of_month = matches!(period, Period::FromToday(_) | Period::Day(_) | Period::MonthDay(..));
    is_of_month || matches!(period, Period::Weekday(..) | Period::WeekdayOfWeek(..))
}

fn short_time(word: &str) -> Option<(i64, Unit)> {
    let (count, unit) = word.split_at_checked(word.len().checked_sub(1)?)?;
    let unit = match unit {
        "h" => Unit::Hour,
        "d" => Unit::Day,
        "w" => Unit::Week,
        "y" => Unit::Year,
        _ => return None,
    };
    let is_number = count.bytes().all(|byte| byte.is_ascii_digit());
    Some((count.parse().ok().filter(|count| is_number && *count > 0)?, unit))
}

/// `Q1` to `Q4`
fn quarter(word: &str) -> Option<Months> {
    let place = ["q1", "q2", "q3", "q4"].iter().position(|quarter| *quarter == word)?;
    Some(Months { first: 3 * place as i8 + 1, count: 3 })
}

fn one(month: i8) -> Months {
    Months { first: month, count: 1 }
}

pub(in super::super) fn unit(word: &str) -> Option<Unit> {
    Some(match word {
        "minute" | "minutes" | "min" | "mins" => Unit::Minute,
        "hour" | "hours" => Unit::Hour,
        "day" | "days" => Unit::Day,
        "week" | "weeks" => Unit::Week,
        "month" | "months" => Unit::Month,
        "quarter" | "quarters" => Unit::Quarter,
        "year" | "years" => Unit::Year,
        _ => return None,
    })
}

fn weekday(word: &str) -> Option<Weekday> {
    Some(match word {
        "monday" => Weekday::Monday,
        "tuesday" => Weekday::Tuesday,
        "wednesday" => Weekday::Wednesday,
        "thursday" => Weekday::Thursday,
        "friday" => Weekday::Friday,
        "saturday" => Weekday::Saturday,
        "sunday" => Weekday::Sunday,
        _ => return None,
    })
}

pub(in super::super) fn month(word: &str) -> Option<i8> {
    const MONTHS: [(&str, &str); 12] = [
        ("january", "jan"),
        ("february", "feb"),
        ("march", "mar"),
        ("april", "apr"),
        ("may", "may"),
        ("june", "jun"),
        ("july", "jul"),
        ("august", "aug"),
        ("september", "sep"),
        ("october", "oct"),
        ("november", "nov"),
        ("december", "dec"),
    ];
    let word = if word == "sept" { "sep" } else { word };
    let position = MONTHS.iter().position(|(name, short)| *name == word || *short == word)?;
    Some(position as i8 + 1)
}

pub(in super::super) fn is_short_month(word: &str) -> bool {
    matches!(
        word,
        "jan" | "feb" | "mar" | "apr" | "jun" | "jul" | "aug" | "sep" | "sept" | "oct" | "nov" | "dec"
    )
}

/// Four digits.
pub(in super::super) fn year(word: &str) -> Option<i16> {
    (word.len() == 4 && word.bytes().all(|byte| byte.is_ascii_digit())).then(|| word.parse().ok()).flatten()
}

/// The days of the longest months.
const DAYS: RangeInclusive<i8> = 1..=31;

/// A year that has every possible day.
const LEAP_YEAR: i16 = 2024;

/// `3`, `3rd`; and whether it was an ordinal.
pub(in super::super) fn day_of_month(word: &str) -> Option<(i8, bool)> {
    number_of_day(word).filter(|(day, _)| DAYS.contains(day))
}

/// As [`day_of_month`], also of a day that no month has.
fn number_of_day(word: &str) -> Option<(i8, bool)> {
    let digits = word.trim_end_matches(|it: char| it.is_ascii_alphabetic());
    let is_ordinal = matches!(&word[digits.len()..], "st" | "nd" | "rd" | "th");
    let is_number = matches!(digits.len(), 1 | 2) && digits.bytes().all(|byte| byte.is_ascii_digit());
    let day = (is_number && (is_ordinal || digits.len() == word.len())).then(|| digits.parse().ok())??;
    Some((day, is_ordinal))
}

/// The year, month and day of `2026-02-30`, `2026-02-30T12:00` and `30.2.2026`, also of a day that the month does not
/// have.
fn date_in_digits(word: &str) -> Option<(i16, i8, i8)> {
    if let Some(date) = date_with_stops(word) {
        return Some(date);
    }
    let (year_digits, rest) = word.get(..10)?.split_once('-')?;
    let (month, day) = rest.split_once('-')?;
    let month = month.parse().ok().filter(|month| (1..=12).contains(month))?;
    Some((year(year_digits)?, month, day.parse().ok()?))
}

/// The year, month and day of `3.10.2026`: with full stops, the day is first everywhere.
fn date_with_stops(word: &str) -> Option<(i16, i8, i8)> {
    let (day, rest) = word.split_once('.')?;
    let (month, year_digits) = rest.split_once('.')?;
    let number = |digits: &str| {
        let is_number = matches!(digits.len(), 1 | 2) && digits.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| digits.parse::<i8>().ok()).flatten()
    };
    let month = number(month).filter(|month| (1..=12).contains(month))?;
    Some((year(year_digits)?, month, number(day)?))
}

/// A period in digits alone: a year, a month, a day, or a time.
pub(in super::super) fn numeric(word: &str) -> Option<Period> {
    if let Some(year) = year(word) {
        return Some(Period::Year(year));
    }
    if let Some((year_digits, month_digits)) = word.split_once('-')
        && month_digits.len() == 2
        && let (Some(year), Ok(month @ 1..=12)) = (year(year_digits), month_digits.parse())
    {
        return Some(Period::Month(year, one(month)));
    }
    if let Some((year, month, day)) = date_with_stops(word) {
        return Date::new(year, month, day).ok().map(Period::Day);
    }
    if !word.starts_with(|first: char| first.is_ascii_digit()) {
        return None;
    }
    if let Ok(instant) = DateTime::parse_from_rfc3339(&word.to_uppercase()) {
        return Some(Period::Instant(instant.to_utc()));
    }
    if word.len() == 10 {
        return word.parse().ok().map(Period::Day);
    }
    let (date, time) = word.split_once('t')?;
    let date: Date = (date.len() == 10).then(|| date.parse().ok()).flatten()?;
    Some(Period::Local(LocalTime::from_parts(date, time_of_day(time)?)))
}

/// `12:00`, `12:00:30`
fn time_of_day(word: &str) -> Option<Time> {
    let shaped = word.bytes().enumerate().all(|(place, byte)| match place {
        2 | 5 => byte == b':',
        _ => byte.is_ascii_digit(),
    });
    (shaped && matches!(word.len(), 5 | 8)).then(|| word.parse().ok()).flatten()
}
