//! The meaning of periods in the calendar of a zone.

use chrono::{DateTime, Utc};
use jiff::civil::{Date, DateTime as LocalTime, Weekday};
use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{SignedDuration, Span, Timestamp, Zoned};

use super::TimeSettings;
use super::grammar::{Months, Part, PartOfDay, Period, Unit, Which};
use super::zone::{instant, timestamp};

type Result<T> = std::result::Result<T, jiff::Error>;

/// A start (inclusive) and an end (exclusive), either open.
type Extent = (Option<DateTime<Utc>>, Option<DateTime<Utc>>);

/// An instant, and the calendar around it.
pub(super) struct Calendar {
    now: Zoned,
    today: Date,
    week_start: Weekday,
}

impl Calendar {
    pub(super) fn new(now: DateTime<Utc>, settings: &TimeSettings) -> Result<Self> {
        let now = timestamp(now)?.to_zoned(settings.zone.0.clone());
        Ok(Self { today: now.date(), now, week_start: settings.week_start.weekday() })
    }

    /// The start and the end of a part.
    pub(super) fn extent(&self, part: &Part) -> Result<Extent> {
        self.extent_by(part, self.today)
    }

    fn extent_by(&self, part: &Part, anchor: Date) -> Result<Extent> {
        let of = |period: &Period| self.period(period, anchor);
        let day = |period: &Period| -> Result<_> { Ok(of(period)?.0.to_zoned(self.zone()).date()) };
        let start = |period: &Period| -> Result<_> { Ok(Some(instant(of(period)?.0))) };
        let end = |period: &Period| -> Result<_> { Ok(Some(instant(of(period)?.1))) };
        Ok(match part {
            Part::During(period) if period.is_instant() => {
                let day = day(period)?;
                let (from, until) = self.days(day, day.tomorrow()?)?;
                (Some(instant(from)), Some(instant(until)))
            }
            Part::During(period) => (start(period)?, end(period)?),
            Part::Since(period) => (start(period)?, None),
            Part::After(period) => (end(period)?, None),
            Part::Before(period) => (None, start(period)?),
            Part::Until(period) => (None, end(period)?),
            Part::Both(from, until) => {
                // "after Monday and before Friday": the Monday before that Friday.
                let day = until.periods().into_iter().next().map_or(Ok(anchor), day)?;
                (self.extent_by(from, day.min(anchor))?.0, self.extent_by(until, anchor)?.1)
            }
            Part::Range(from, until) => {
                let side = |period: &Option<Period>| period.as_ref().map_or(Ok(None), start);
                (side(from)?, side(until)?)
            }
            Part::Through(from, to) => {
                // "from November to February": the November before that February; "from last Friday to last
                // Monday": the Friday before that Monday.
                (Some(instant(self.period(from, day(to)?)?.0)), Some(instant(of(to)?.1)))
            }
        })
    }

    /// The start and the end of a period. A recurring period is the latest one that has begun by the day `anchor`.
    fn period(&self, period: &Period, anchor: Date) -> Result<(Timestamp, Timestamp)> {
        let now = self.now.timestamp();
        match period {
            Period::Now => Ok((now, now)),
            Period::Instant(at) => timestamp(*at).map(|at| (at, at)),
            Period::Local(at) => self.first(*at).map(|at| (at, at)),
            Period::At(day, time) => {
                let day = self.dates(day, anchor)?.0;
                self.first(day.to_datetime(*time)).map(|at| (at, at))
            }
            Period::PartOfDay(day, part) => {
                let day = self.dates(day, anchor)?.0;
                let (from, days, until) = match part {
                    PartOfDay::Morning => (6, 0, 12),
                    PartOfDay::Afternoon => (12, 0, 18),
                    PartOfDay::Evening => (18, 1, 0),
                    PartOfDay::Night => (18, 1, 6),
                };
                Ok((self.hour(day, from)?, self.hour(plus_days(day, days)?, until)?))
            }
            Period::Back(unit, count) => Ok((self.moved(*unit, -*count)?, now)),
            Period::Ahead(unit, count) => Ok((now, self.moved(*unit, *count)?)),
            Period::Ago(Unit::Minute, count) => self.clock_unit(Unit::Minute, 60, *count),
            Period::Ago(Unit::Hour, count) => self.clock_unit(Unit::Hour, 3_600, *count),
            _ => {
                let (from, until) = self.dates(period, anchor)?;
                self.days(from, until)
            }
        }
    }

    /// The first day of a period of whole days, and the first after it.
    fn dates(&self, period: &Period, anchor: Date) -> Result<(Date, Date)> {
        let from = match period {
            Period::Day(day) => *day,
            Period::FromToday(days) => plus_days(self.today, (*days).into())?,
            Period::Weekday(which, weekday) => self.weekday(*which, *weekday, anchor)?,
            Period::WeekdayOfWeek(weeks, weekday) => {
                let first = self.unit_start(Unit::Week, (*weeks).into())?;
                plus_days(first, weekday.since(self.week_start).into())?
            }
            Period::MonthDay(month, day) => latest_month_day(*month, *day, anchor)?,
            Period::Month(year, months) => Date::new(*year, months.first, 1)?,
            Period::MonthNamed(which, months) => self.months(*which, *months, anchor)?,
            Period::MonthOfYear(years, months) => {
                let first = self.unit_start(Unit::Year, (*years).into())?;
                Date::new(first.year(), months.first, 1)?
            }
            Period::Year(year) => Date::new(*year, 1, 1)?,
            Period::Calendar(unit, count) => self.unit_start(*unit, (*count).into())?,
            Period::Ago(unit, count) => self.unit_start(*unit, -*count)?,
            Period::Weekend(weeks) => {
                plus_days(week_start(self.today, Weekday::Monday)?, 5 + 7 * i64::from(*weeks))?
            }
            Period::LatestWeekend => latest_weekday(Weekday::Saturday, anchor)?,
            // Not periods of whole days. No caller asks for them.
            Period::Now | Period::Instant(_) | Period::Local(_) | Period::At(..) => self.today,
            Period::PartOfDay(..) | Period::Back(..) | Period::Ahead(..) => self.today,
        };
        let until = match period {
            Period::Month(_, months) | Period::MonthNamed(_, months) | Period::MonthOfYear(_, months) => {
                from.checked_add(Span::new().months(months.count))?
            }
            Period::Year(_) => from.checked_add(Span::new().years(1))?,
            Period::Calendar(unit, _) | Period::Ago(unit, _) => from.checked_add(span(*unit, 1)?)?,
            Period::Weekend(_) | Period::LatestWeekend => plus_days(from, 2)?,
            _ => from.tomorrow()?,
        };
        Ok((from, until))
    }

    /// The first day of the week, month, quarter or year that is `count` units from the current one.
    fn unit_start(&self, unit: Unit, count: i64) -> Result<Date> {
        let this = match unit {
            Unit::Week => week_start(self.today, self.week_start)?,
            Unit::Month => self.today.first_of_month(),
            Unit::Quarter => first_of_months(self.today, 3)?,
            Unit::Year => self.today.first_of_year(),
            _ => self.today,
        };
        this.checked_add(span(unit, count)?)
    }

    fn weekday(&self, which: Which, weekday: Weekday, anchor: Date) -> Result<Date> {
        match which {
            Which::Latest => latest_weekday(weekday, anchor),
            Which::Last => latest_weekday(weekday, anchor.min(self.today.yesterday()?)),
            Which::Next => plus_days(latest_weekday(weekday, self.today)?, 7),
            Which::This => {
                let first = week_start(self.today, self.week_start)?;
                plus_days(first, weekday.since(self.week_start).into())
            }
        }
    }

    fn months(&self, which: Which, months: Months, anchor: Date) -> Result<Date> {
        let (today, Months { first, count }) = (self.today, months);
        let latest = |anchor: Date| anchor.year() - i16::from(first > anchor.month());
        let year = match which {
            Which::Latest => latest(anchor),
            Which::Last => latest(anchor.min(first_of_months(today, count)?.yesterday()?)),
            Which::Next => today.year() + i16::from(first <= today.month()),
            Which::This => today.year(),
        };
        Date::new(year, first, 1)
    }

    /// The instant `count` units from now: minutes and hours by the second, other units by the calendar, at the same
    /// time of the day.
    fn moved(&self, unit: Unit, count: i64) -> Result<Timestamp> {
        let seconds = match unit {
            Unit::Minute => 60,
            Unit::Hour => 3_600,
            _ => return Ok(self.now.checked_add(span(unit, count)?)?.timestamp()),
        };
        self.now.timestamp().checked_add(SignedDuration::from_secs(count.saturating_mul(seconds)))
    }

    /// The minute or hour that is `count` units back, as the clock shows it at that instant.
    fn clock_unit(&self, unit: Unit, seconds: i64, count: i64) -> Result<(Timestamp, Timestamp)> {
        let at = self.moved(unit, -count)?;
        let offset = i64::from(self.now.time_zone().to_offset(at).seconds());
        let from = (at.as_second() + offset).div_euclid(seconds) * seconds - offset;
        Ok((Timestamp::from_second(from)?, Timestamp::from_second(from + seconds)?))
    }

    fn days(&self, from: Date, until: Date) -> Result<(Timestamp, Timestamp)> {
        Ok((self.hour(from, 0)?, self.hour(until, 0)?))
    }

    fn hour(&self, day: Date, hour: i8) -> Result<Timestamp> {
        self.first(day.at(hour, 0, 0, 0))
    }

    /// The instant of a local time: the first one if clocks show it twice, the end of the gap if they skip it.
    fn first(&self, time: LocalTime) -> Result<Timestamp> {
        let zone = self.now.time_zone();
        let found = zone.to_ambiguous_timestamp(time);
        match found.offset() {
            AmbiguousOffset::Gap { .. } => {
                let before = found.earlier()?;
                let gap = zone.following(before).next().map(|transition| transition.timestamp());
                Ok(gap.unwrap_or(before))
            }
            _ => found.compatible(),
        }
    }

    fn zone(&self) -> TimeZone {
        self.now.time_zone().clone()
    }
}

fn plus_days(date: Date, days: i64) -> Result<Date> {
    date.checked_add(span(Unit::Day, days)?)
}

fn span(unit: Unit, count: i64) -> Result<Span> {
    let span = Span::new();
    match unit {
        Unit::Minute => span.try_minutes(count),
        Unit::Hour => span.try_hours(count),
        Unit::Day => span.try_days(count),
        Unit::Week => span.try_weeks(count),
        Unit::Month => span.try_months(count),
        Unit::Quarter => span.try_months(count.saturating_mul(3)),
        Unit::Year => span.try_years(count),
    }
}

/// The first day of the week of a day.
fn week_start(day: Date, first: Weekday) -> Result<Date> {
    latest_weekday(first, day)
}

/// The first day of the months around a day, if a year is divided into as many each.
fn first_of_months(day: Date, count: i8) -> Result<Date> {
    Date::new(day.year(), day.month() - (day.month() - 1) % count, 1)
}

/// The latest day of this name that is not after `anchor`.
fn latest_weekday(weekday: Weekday, anchor: Date) -> Result<Date> {
    plus_days(anchor, -i64::from(anchor.weekday().since(weekday)))
}

/// The latest such day that is not after `anchor`; the 29th of February may be eight years back.
fn latest_month_day(month: i8, day: i8, anchor: Date) -> Result<Date> {
    let mut year = anchor.year();
    loop {
        match Date::new(year, month, day) {
            Ok(date) if date <= anchor => return Ok(date),
            Err(error) if anchor.year() - year > 8 => return Err(error),
            _ => year -= 1,
        }
    }
}
