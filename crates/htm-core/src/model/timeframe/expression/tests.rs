//! Meanings compared with definitions that do not use the calendar: the local dates and hours within, by chrono-tz,
//! over ten years in zones that skip and repeat hours, half hours, and midnights.

use chrono::{Datelike, Days, Months, NaiveDate, NaiveDateTime, TimeDelta, TimeZone, Timelike, Weekday};
use chrono_tz::Tz;
use proptest::prelude::*;

use super::*;
use crate::model::timeframe::WeekStart;

const ZONES: [Tz; 9] = [
    Tz::UTC,
    Tz::Europe__Berlin,
    Tz::America__New_York,
    Tz::Australia__Lord_Howe,
    Tz::America__Sao_Paulo,
    Tz::Africa__Cairo,
    Tz::Asia__Kathmandu,
    Tz::Pacific__Apia,
    Tz::America__Havana,
];

/// An instant of ten years, a zone, and a week's first day.
#[derive(Clone, Debug)]
struct Here {
    now: DateTime<Utc>,
    zone: Tz,
    week_start: WeekStart,
}

impl Here {
    fn new(now: &str, zone: Tz) -> Self {
        Self { now: now.parse().unwrap(), zone, week_start: WeekStart::Monday }
    }

    fn frame(&self, text: &str) -> Timeframe {
        self.try_frame(text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    fn try_frame(&self, text: &str) -> Result<Timeframe> {
        let settings = TimeSettings { zone: self.zone.name().parse().unwrap(), week_start: self.week_start };
        text.parse::<TimeExpression>()?.resolve(self.now, &settings)
    }

    fn clock(&self, instant: DateTime<Utc>) -> NaiveDateTime {
        instant.with_timezone(&self.zone).naive_local()
    }

    fn today(&self) -> NaiveDate {
        self.clock(self.now).date()
    }

    fn week_of(&self, day: NaiveDate) -> i64 {
        // Days since a Monday or a Sunday long ago.
        let first = match self.week_start {
            WeekStart::Monday => NaiveDate::from_ymd_opt(1900, 1, 1),
            WeekStart::Sunday => NaiveDate::from_ymd_opt(1899, 12, 31),
        };
        (day - first.unwrap()).num_days().div_euclid(7)
    }
}

fn month_of(day: NaiveDate) -> i32 {
    day.year() * 12 + day.month0() as i32
}

fn here() -> impl proptest::strategy::Strategy<Value = Here> {
    let seconds = 1_451_606_400i64..1_767_225_600; // 2016 to 2025
    (seconds, 0..ZONES.len(), any::<bool>()).prop_map(|(seconds, zone, monday)| Here {
        now: DateTime::from_timestamp(seconds, 0).unwrap(),
        zone: ZONES[zone],
        week_start: if monday { WeekStart::Monday } else { WeekStart::Sunday },
    })
}

/// Instants that would show a difference: around the ends, around now, and some of the years around.
fn probes(frame: &Timeframe, now: DateTime<Utc>) -> Vec<DateTime<Utc>> {
    let second = TimeDelta::seconds(1);
    let ends = frame.ranges().iter().flat_map(|range| [range.from(), range.until()]).flatten();
    let near = ends.flat_map(|end| {
        [end - second, end, end + second, end - TimeDelta::hours(1), end + TimeDelta::hours(1)]
    });
    let around = (-60..60).map(|step| now + TimeDelta::minutes(step * step * step * 7 + step * 31));
    near.chain(around).chain((-800..800).map(|step| now + TimeDelta::hours(step))).collect()
}

fn same(here: &Here, text: &str, within: impl Fn(NaiveDateTime) -> bool) -> Result<(), TestCaseError> {
    let frame = here.frame(text);
    for probe in probes(&frame, here.now) {
        let clock = here.clock(probe);
        prop_assert_eq!(
            frame.contains(probe),
            within(clock),
            "{} at {} of {:?}: {}",
            text,
            clock,
            here,
            frame
        );
    }
    Ok(())
}

#[test]
fn a_point_in_time_begins_at_itself_and_a_period_at_its_start() {
    let here = Here::new("2026-03-10T15:30:00Z", Tz::Europe__Berlin);
    let settings = TimeSettings { zone: here.zone.name().parse().unwrap(), week_start: here.week_start };
    for (text, begins) in [
        ("now", Some("2026-03-10T15:30:00Z")),
        ("2026-03-01T12:00:00Z", Some("2026-03-01T12:00:00Z")),
        ("2026-03-01 12:00", Some("2026-03-01T11:00:00Z")),
        ("2026-03-01", Some("2026-02-28T23:00:00Z")),
        ("yesterday", Some("2026-03-08T23:00:00Z")),
        ("since Monday", Some("2026-03-08T23:00:00Z")),
        ("before 2020", None),
    ] {
        let expression: TimeExpression = text.parse().unwrap();
        let begins = begins.map(|begins| begins.parse::<DateTime<Utc>>().unwrap());
        assert_eq!(expression.begins(here.now, &settings).unwrap(), begins, "{text}");
    }
}

proptest! {
    #[test]
    fn days_are_those_that_clocks_show(here in here(), back in 1u64..1_000) {
        let today = here.today();
        same(&here, "today", |it| it.date() == today)?;
        same(&here, "yesterday", |it| it.date() == today.pred_opt().unwrap())?;
        same(&here, "the day before yesterday", |it| it.date() == today - Days::new(2))?;
        same(&here, "tomorrow", |it| it.date() == today.succ_opt().unwrap())?;
        same(&here, &format!("{back} days ago"), |it| it.date() == today - Days::new(back))?;
        let some = today - Days::new(back);
        same(&here, &some.to_string(), |it| it.date() == some)?;
        same(&here, &some.format("%-d %B %Y").to_string(), |it| it.date() == some)?;
        same(&here, &some.format("%B %-d, %Y").to_string(), |it| it.date() == some)?;
        let last = some + Days::new(back % 40);
        same(&here, &format!("from {some} to {last}"), |it| some <= it.date() && it.date() <= last)?;
        same(&here, &format!("{some}..{}", last + Days::new(1)), |it| some <= it.date() && it.date() <= last)?;
        same(&here, &format!("since {some}"), |it| it.date() >= some)?;
        same(&here, &format!("after {some}"), |it| it.date() > some)?;
        same(&here, &format!("before {some}"), |it| it.date() < some)?;
        same(&here, &format!("until {some}"), |it| it.date() <= some)?;
        same(&here, &format!("{some} or today"), |it| it.date() == some || it.date() == today)?;
    }

    #[test]
    fn parts_of_the_day_are_those_that_clocks_show(here in here()) {
        let (today, yesterday) = (here.today(), here.today().pred_opt().unwrap());
        let tomorrow = today.succ_opt().unwrap();
        same(&here, "this morning", |it| it.date() == today && (6..12).contains(&it.hour()))?;
        same(&here, "this afternoon", |it| it.date() == today && (12..18).contains(&it.hour()))?;
        same(&here, "this evening", |it| it.date() == today && it.hour() >= 18)?;
        same(&here, "yesterday evening", |it| it.date() == yesterday && it.hour() >= 18)?;
        let night = |it: NaiveDateTime, day: NaiveDate, next: NaiveDate| {
            (it.date() == day && it.hour() >= 18) || (it.date() == next && it.hour() < 6)
        };
        same(&here, "tonight", |it| night(it, today, tomorrow))?;
        same(&here, "last night", |it| night(it, yesterday, today))?;
    }

    #[test]
    fn weeks_months_and_years_are_the_calendars(here in here(), back in 0i64..30) {
        let today = here.today();
        let (week, month, year) = (here.week_of(today), month_of(today), today.year());
        for (word, offset) in [("this", 0), ("last", -1), ("next", 1)] {
            same(&here, &format!("{word} week"), |it| here.week_of(it.date()) == week + offset)?;
            same(&here, &format!("{word} month"), |it| month_of(it.date()) == month + offset as i32)?;
            same(&here, &format!("{word} year"), |it| it.year() == year + offset as i32)?;
            let monday = |day: NaiveDate| day - Days::new(day.weekday().num_days_from_monday().into());
            same(&here, &format!("{word} weekend"), |it| {
                (monday(it.date()) - monday(today)).num_days() == 7 * offset && it.weekday().num_days_from_monday() >= 5
            })?;
        }
        same(&here, "week before last", |it| here.week_of(it.date()) == week - 2)?;
        same(&here, "the month before last", |it| month_of(it.date()) == month - 2)?;
        let ago = back + 1;
        same(&here, &format!("{ago} weeks ago"), |it| here.week_of(it.date()) == week - ago)?;
        same(&here, &format!("{ago} months ago"), |it| month_of(it.date()) == month - ago as i32)?;
        same(&here, &format!("{ago} years ago"), |it| it.year() == year - ago as i32)?;
        same(&here, &today.format("%B %Y").to_string(), |it| month_of(it.date()) == month)?;
        same(&here, &today.format("%Y-%m").to_string(), |it| month_of(it.date()) == month)?;
        same(&here, &year.to_string(), |it| it.year() == year)?;
    }

    #[test]
    fn names_are_the_nearest(here in here(), weekday in 0u8..7, month in 1u32..=12) {
        let today = here.today();
        let weekday = Weekday::try_from(weekday).unwrap();
        let walk = |from: NaiveDate, step: i64, is: &dyn Fn(NaiveDate) -> bool| {
            let mut day = from;
            while !is(day) {
                day += TimeDelta::days(step);
            }
            day
        };
        let named = |day: NaiveDate| day.weekday() == weekday;
        let name = format!("{}", NaiveDate::from_isoywd_opt(2020, 1, weekday).unwrap().format("%A"));
        let (before, after) = (today.pred_opt().unwrap(), today.succ_opt().unwrap());
        same(&here, &format!("last {name}"), |it| it.date() == walk(before, -1, &named))?;
        same(&here, &format!("next {name}"), |it| it.date() == walk(after, 1, &named))?;
        same(&here, &format!("on {name}"), |it| it.date() == walk(today, -1, &named))?;
        same(&here, &format!("this {name}"), |it| {
            it.weekday() == weekday && here.week_of(it.date()) == here.week_of(today)
        })?;
        let saturday = walk(today, -1, &|day| day.weekday() == Weekday::Sat);
        same(&here, "over the weekend", |it| it.date() == saturday || it.date() == saturday + Days::new(1))?;

        let of_month = |day: NaiveDate| day.month() == month;
        let name = NaiveDate::from_ymd_opt(2020, month, 1).unwrap().format("%B").to_string();
        let latest = month_of(walk(today, -1, &of_month));
        same(&here, &format!("in {name}"), |it| month_of(it.date()) == latest)?;
        let first = today.with_day(1).unwrap();
        let last = month_of(walk(first.pred_opt().unwrap(), -1, &of_month));
        same(&here, &format!("last {name}"), |it| month_of(it.date()) == last)?;
        let next = month_of(walk(first + Months::new(1), 1, &of_month));
        same(&here, &format!("next {name}"), |it| month_of(it.date()) == next)?;
    }

    #[test]
    fn so_long_back_is_the_same_time_of_the_day(here in here(), count in 1u32..60) {
        let clock = here.clock(here.now);
        for (unit, then) in [
            ("days", clock - Days::new(count.into())),
            ("weeks", clock - Days::new(7 * u64::from(count))),
            ("months", clock - Months::new(count)),
            ("years", clock - Months::new(12 * count)),
        ] {
            let frame = here.frame(&format!("last {count} {unit}"));
            let [range] = frame.ranges() else { panic!("{frame}") };
            prop_assert_eq!(range.until(), Some(here.now));
            let from = here.clock(range.from().unwrap());
            // Skipped hours (and Samoa's skipped day) have no such time: the range starts after them.
            match here.zone.from_local_datetime(&then) {
                chrono::LocalResult::None => prop_assert!(from > then && from - then <= TimeDelta::hours(24)),
                _ => prop_assert_eq!(from, then, "{} {}", count, unit),
            }
        }
        for (unit, length) in [("minutes", TimeDelta::minutes(1)), ("hours", TimeDelta::hours(1))] {
            let back = here.frame(&format!("past {count} {unit}"));
            let expected = Timeframe::new(Some(here.now - length * count as i32), Some(here.now)).unwrap();
            prop_assert_eq!(back, expected);
            let ago = here.frame(&format!("{count} {unit} ago"));
            let then = here.now - length * count as i32;
            prop_assert!(ago.contains(then));
            prop_assert_eq!(ago.until().unwrap() - ago.from().unwrap(), length);
            let start = here.clock(ago.from().unwrap());
            prop_assert_eq!(start.second(), 0);
            // Lord Howe changes its clocks in the middle of an hour.
            if unit == "hours" {
                prop_assert!(start.minute() == 0 || here.zone == Tz::Australia__Lord_Howe, "{}", start);
            }
        }
        prop_assert_eq!(here.frame("recently"), here.frame("last 3 days"));
    }

    #[test]
    fn no_text_panics(text in "[a-z0-9 .,:'-]{0,40}", here in here()) {
        let _ = here.try_frame(&text);
    }

    #[test]
    fn no_words_panic(words in proptest::collection::vec(0..WORDS.len(), 1..8), here in here()) {
        let text = words.iter().map(|word| WORDS[*word]).collect::<Vec<_>>().join(" ");
        if let Err(error) = here.try_frame(&text) {
            prop_assert!(["timeframe_invalid", "timeframe_reversed", "time_out_of_range"].contains(&error.code()));
        }
    }
}

/// Each day of ten years is today once, at a time of the day that moves on.
#[test]
fn every_day_of_ten_years() {
    let second = TimeDelta::seconds(1);
    for (zone, week_start) in [
        (Tz::UTC, WeekStart::Monday),
        (Tz::Europe__Berlin, WeekStart::Monday),
        (Tz::America__New_York, WeekStart::Sunday),
        (Tz::Australia__Lord_Howe, WeekStart::Sunday),
    ] {
        let mut here = Here { week_start, ..Here::new("2016-01-01T00:00:00Z", zone) };
        while here.now < "2026-01-01T00:00:00Z".parse::<DateTime<Utc>>().unwrap() {
            let today = here.today();
            let yesterday = today.pred_opt().unwrap();
            let monday = today - Days::new(today.weekday().num_days_from_monday().into());
            let week = here.week_of(today);
            let days_back = |day: NaiveDate| (today - day).num_days();
            let since_wednesday = i64::from((today.weekday().num_days_from_monday() + 4) % 7) + 1;
            let since_friday = i64::from((today.weekday().num_days_from_monday() + 3) % 7);
            let same: [(&str, &dyn Fn(NaiveDate) -> bool); 16] = [
                ("today", &|day| day == today),
                ("yesterday", &|day| day == yesterday),
                ("this week", &|day| here.week_of(day) == week),
                ("last week", &|day| here.week_of(day) == week - 1),
                ("last month", &|day| month_of(day) == month_of(today) - 1),
                ("last year", &|day| day.year() == today.year() - 1),
                ("last weekend", &|day| day == monday - Days::new(1) || day == monday - Days::new(2)),
                ("3 days ago", &|day| days_back(day) == 3),
                ("2 weeks ago", &|day| here.week_of(day) == week - 2),
                ("a month ago", &|day| month_of(day) == month_of(today) - 1),
                ("11 months ago", &|day| month_of(day) == month_of(today) - 11),
                ("4 years ago", &|day| day.year() == today.year() - 4),
                ("last Wednesday", &|day| days_back(day) == since_wednesday),
                ("on Friday", &|day| days_back(day) == since_friday),
                ("this Sunday", &|day| here.week_of(day) == week && day.weekday() == Weekday::Sun),
                ("in February", &|day| {
                    let months = month_of(today) - month_of(day);
                    day.month() == 2 && (0..12).contains(&months)
                }),
            ];
            for (text, within) in same {
                let frame = here.frame(text);
                let (from, until) = (frame.from().unwrap(), frame.until().unwrap());
                let days =
                    [from - second, from, until - second, until].map(|at| within(here.clock(at).date()));
                assert_eq!(days, [false, true, true, false], "{text} at {here:?}: {frame}");
            }
            let night = |at: NaiveDateTime, day: NaiveDate| {
                (at.date() == day && at.hour() >= 18)
                    || (at.date() == day.succ_opt().unwrap() && at.hour() < 6)
            };
            let parts: [(&str, &dyn Fn(NaiveDateTime) -> bool); 6] = [
                ("this morning", &|at| at.date() == today && (6..12).contains(&at.hour())),
                ("this afternoon", &|at| at.date() == today && (12..18).contains(&at.hour())),
                ("this evening", &|at| at.date() == today && at.hour() >= 18),
                ("yesterday evening", &|at| at.date() == yesterday && at.hour() >= 18),
                ("tonight", &|at| night(at, today)),
                ("last night", &|at| night(at, yesterday)),
            ];
            for (text, within) in parts {
                let frame = here.frame(text);
                let (from, until) = (frame.from().unwrap(), frame.until().unwrap());
                let ends = [from - second, from, until - second, until].map(|at| within(here.clock(at)));
                assert_eq!(ends, [false, true, true, false], "{text} at {here:?}: {frame}");
            }
            // The last N months begin on the same day of the month, or on its last day.
            let clock = here.clock(here.now);
            for months in [1, 13] {
                let then = clock - Months::new(months);
                let from = here.clock(here.frame(&format!("last {months} months")).from().unwrap());
                match zone.from_local_datetime(&then) {
                    chrono::LocalResult::None => assert!(from > then && from - then <= TimeDelta::hours(1)),
                    _ => assert_eq!(from, then, "{months} at {here:?}"),
                }
            }
            here.now += TimeDelta::days(1) + TimeDelta::minutes(7);
        }
    }
}

const WORDS: [&str; 32] = [
    "last",
    "this",
    "next",
    "past",
    "week",
    "days",
    "3",
    "999999999",
    "ago",
    "a",
    "few",
    "the",
    "march",
    "2026",
    "29",
    "february",
    "0001",
    "..",
    ",",
    "or",
    "between",
    "and",
    "from",
    "to",
    "since",
    "before",
    "monday",
    "weekend",
    "2026-03-01",
    "day",
    "yesterday",
    "in",
];

/// Known hard cases, with the answers by hand. The day is a Wednesday unless stated otherwise.
#[test]
fn examples() {
    let utc = |now: &str| Here::new(now, Tz::UTC);
    for (now, text, expected) in [
        ("2026-03-01T10:00:00Z", "yesterday", "2026-02-28..2026-03-01"),
        ("2024-03-01T10:00:00Z", "yesterday", "2024-02-29..2024-03-01"),
        ("2026-01-01T00:00:00Z", "yesterday", "2025-12-31..2026-01-01"),
        ("2026-01-31T10:00:00Z", "last month", "2025-12-01..2026-01-01"),
        ("2026-03-31T10:00:00Z", "last month", "2026-02-01..2026-03-01"),
        ("2026-01-05T10:00:00Z", "last week", "2025-12-29..2026-01-05"),
        ("2026-03-18T10:00:00Z", "this weekend", "2026-03-21..2026-03-23"),
        ("2026-03-22T10:00:00Z", "this weekend", "2026-03-21..2026-03-23"),
        ("2026-03-18T10:00:00Z", "last weekend", "2026-03-14..2026-03-16"),
        ("2026-03-18T10:00:00Z", "weekend before last", "2026-03-07..2026-03-09"),
        ("2026-03-18T10:00:00Z", "last Wednesday", "2026-03-11..2026-03-12"),
        ("2026-03-18T10:00:00Z", "Wednesday", "2026-03-18..2026-03-19"),
        ("2026-03-18T10:00:00Z", "in April", "2025-04-01..2025-05-01"),
        ("2026-03-18T10:00:00Z", "29 February", "2024-02-29..2024-03-01"),
        ("2026-11-21T10:00:00Z", "March last year", "2025-03-01..2025-04-01"),
        ("2026-11-21T10:00:00Z", "December of this year", "2026-12-01..2027-01-01"),
        ("2026-11-21T10:00:00Z", "since March next year", "2027-03-01.."),
        ("2026-11-21T10:00:00Z", "on Monday last week", "2026-11-09..2026-11-10"),
        ("2026-11-21T10:00:00Z", "Sunday this week", "2026-11-22..2026-11-23"),
        ("2026-11-21T10:00:00Z", "Monday of next week", "2026-11-23..2026-11-24"),
        ("2026-11-21T10:00:00Z", "from Monday to Friday last week", "2026-11-09..2026-11-14"),
        ("2026-03-18T10:00:00Z", "from Monday to Wednesday", "2026-03-16..2026-03-19"),
        // On a Tuesday: the Wednesday of the week before, and the Monday before that.
        ("2026-03-17T10:00:00Z", "from Monday to Wednesday", "2026-03-09..2026-03-12"),
        ("2026-12-18T10:00:00Z", "from November to February", "2025-11-01..2026-03-01"),
        ("2026-12-18T10:00:00Z", "between March and May 2024", "2024-03-01..2024-06-01"),
        // The day that is named first is the earlier one, on any day.
        ("2026-11-21T10:00:00Z", "from last Friday to last Monday", "2026-11-13..2026-11-17"),
        ("2026-11-18T10:00:00Z", "between last Monday and last Friday", "2026-11-09..2026-11-14"),
        ("2026-11-21T10:00:00Z", "between last Monday and last Friday", "2026-11-16..2026-11-21"),
        ("2026-11-21T10:00:00Z", "from last Saturday to last Saturday", "2026-11-14..2026-11-15"),
        ("2026-11-21T10:00:00Z", "from last Saturday to today", "2026-11-14..2026-11-22"),
        ("2026-11-21T10:00:00Z", "from last Saturday to tomorrow", "2026-11-14..2026-11-23"),
        (
            "2026-11-21T10:00:00Z",
            "from last Friday evening to last Monday",
            "2026-11-13T18:00:00Z..2026-11-17",
        ),
        ("2026-11-21T10:00:00Z", "from last December to last March", "2025-12-01..2026-04-01"),
        ("2026-03-18T10:00:00Z", "between last October and last May", "2024-10-01..2025-06-01"),
        ("2026-03-18T10:00:00Z", "from last March to this month", "2025-03-01..2026-04-01"),
        ("2026-03-18T10:00:00Z", "2026-03-01..2026-03-05", "2026-03-01..2026-03-05"),
        ("2026-03-18T10:00:00Z", "2026-01..2026-03", "2026-01-01..2026-03-01"),
        ("2026-03-18T10:00:00Z", "2026-03-01T12:00:00Z", "2026-03-01..2026-03-02"),
        ("2026-03-18T10:00:00Z", "2026-03-01 12:00", "2026-03-01..2026-03-02"),
        ("2026-03-18T10:00:00Z", "yesterday..", "2026-03-17.."),
        ("2026-03-18T10:00:00Z", "..last month", "..2026-02-01"),
        ("2026-03-18T10:00:00Z", "since last Monday", "2026-03-16.."),
        ("2026-03-18T10:00:00Z", "before the week before last", "..2026-03-02"),
        ("2026-03-18T10:00:00Z", "after last weekend", "2026-03-16.."),
        ("2026-03-18T10:00:00Z", "a year ago", "2025-01-01..2026-01-01"),
        ("2026-03-18T10:00:00Z", "a few days ago", "2026-03-15..2026-03-16"),
        ("2026-03-18T10:00:00Z", "several weeks ago", "2026-02-23..2026-03-02"),
        ("2026-03-18T10:00:00Z", "two months ago", "2026-01-01..2026-02-01"),
        ("2026-03-18T10:00:00Z", "the 3rd of March 2026", "2026-03-03..2026-03-04"),
        ("2026-03-18T10:00:00Z", "Sept 2025", "2025-09-01..2025-10-01"),
        (
            "2026-03-18T10:00:00Z",
            "March 3, 2026, 2026-03-05",
            "2026-03-03..2026-03-04, 2026-03-05..2026-03-06",
        ),
        (
            "2026-03-18T10:00:00Z",
            "today, yesterday or 2026-03-10",
            "2026-03-10..2026-03-11, 2026-03-17..2026-03-19",
        ),
        ("2026-03-18T10:00:00Z", "2026-01-01..2026-02-01, 2026-01-15..2026-02-15", "2026-01-01..2026-02-15"),
        ("2026-03-18T10:00:00Z", "before 2026 or since 2026", ""),
        ("2026-11-21T10:00:00Z", "after 1 October and before yesterday", "2026-10-02..2026-11-20"),
        // On a Wednesday: the Friday of the week before, and the Monday before that.
        ("2026-11-25T10:00:00Z", "after Monday and before Friday", "2026-11-17..2026-11-20"),
        ("2026-11-25T10:00:00Z", "before Friday and after Monday", "2026-11-17..2026-11-20"),
        ("2026-11-28T10:00:00Z", "after Monday and before Friday", "2026-11-24..2026-11-27"),
        ("2026-11-25T10:00:00Z", "since Friday and until Monday", "2026-11-20..2026-11-24"),
        ("2026-11-25T10:00:00Z", "since October and before March", "2025-10-01..2026-03-01"),
        ("2026-11-25T10:00:00Z", "since 1 October and until 3 March", "2025-10-01..2026-03-04"),
        // On a Sunday: this Monday is still to come.
        ("2026-11-22T10:00:00Z", "since Monday and before tomorrow", "2026-11-16..2026-11-23"),
        ("2026-11-21T10:00:00Z", "until March 2026, and since 2026", "2026-01-01..2026-04-01"),
        ("2026-11-21T10:00:00Z", "2026-03.. and ..2026-05", "2026-03-01..2026-05-01"),
        ("2026-11-21T10:00:00Z", "before 2025 and in March 2026", "..2025-01-01, 2026-03-01..2026-04-01"),
        ("2026-03-18T10:00:00Z", "  ", ""),
    ] {
        let frame = utc(now).frame(text).to_string().replace("T00:00:00Z", "");
        assert_eq!(frame, expected, "{text} at {now}");
    }
    for (now, text, expected) in [
        ("2026-03-31T10:00:00Z", "last 1 month", "2026-02-28T10:00:00Z..2026-03-31T10:00:00Z"),
        ("2024-02-29T10:00:00Z", "past year", "2023-02-28T10:00:00Z..2024-02-29T10:00:00Z"),
        ("2026-03-18T10:00:30Z", "5 minutes ago", "2026-03-18T09:55:00Z..2026-03-18T09:56:00Z"),
        ("2026-03-18T10:00:30Z", "an hour ago", "2026-03-18T09:00:00Z..2026-03-18T10:00:00Z"),
        ("2026-03-18T10:00:30Z", "in the last couple of hours", "2026-03-18T08:00:30Z..2026-03-18T10:00:30Z"),
        ("2026-03-18T10:00:30Z", "next few days", "2026-03-18T10:00:30Z..2026-03-21T10:00:30Z"),
        (
            "2026-03-18T10:00:00Z",
            "2026-03-01T12:00:00+02:00..2026-03-01T12:00:01Z",
            "2026-03-01T10:00:00Z..2026-03-01T12:00:01Z",
        ),
        ("2026-03-18T10:00:00Z", "since 2026-03-01 12:00", "2026-03-01T12:00:00Z.."),
        ("2026-03-18T10:00:00Z", "..now", "..2026-03-18T10:00:00Z"),
    ] {
        assert_eq!(utc(now).frame(text).to_string(), expected, "{text} at {now}");
    }
}

#[test]
fn clocks_that_jump() {
    // 23 hours, 25 hours, and half an hour more.
    let hours = |zone: Tz, day: &str| {
        let frame = Here::new("2026-06-01T00:00:00Z", zone).frame(day);
        (frame.until().unwrap() - frame.from().unwrap()).num_minutes() as f64 / 60.0
    };
    assert_eq!(hours(Tz::Europe__Berlin, "2026-03-29"), 23.0);
    assert_eq!(hours(Tz::Europe__Berlin, "2026-10-25"), 25.0);
    assert_eq!(hours(Tz::Australia__Lord_Howe, "2026-04-05"), 24.5);
    // A day without a midnight begins at 01:00.
    let day = Here::new("2026-06-01T00:00:00Z", Tz::America__Sao_Paulo).frame("2018-11-04");
    assert_eq!(day.from().unwrap().to_rfc3339(), "2018-11-04T03:00:00+00:00");
    // A day whose midnight is within a gap begins at the gap's end: half past twelve, in Toronto in 1919.
    let day = Here::new("2026-06-01T00:00:00Z", Tz::America__Toronto).frame("1919-03-31");
    assert_eq!(day.from().unwrap().to_rfc3339(), "1919-03-31T04:30:00+00:00");
    // Samoa went from the 29th to the 31st.
    let samoa = Here::new("2026-06-01T00:00:00Z", Tz::Pacific__Apia);
    let error = samoa.try_frame("2011-12-30").unwrap_err();
    assert_eq!(error.code(), "timeframe_invalid");
    assert!(error.to_string().contains("there is no such time in Pacific/Apia"), "{error}");
    // The same instant, another day.
    let midnight = "2026-03-01T02:00:00Z";
    assert_ne!(
        Here::new(midnight, Tz::UTC).frame("today").from(),
        Here::new(midnight, Tz::America__New_York).frame("today").from()
    );
}

#[test]
fn short_ways_to_write_a_time_are_those_in_full() {
    let here = Here::new("2026-03-18T10:00:00Z", Tz::UTC);
    for (short, full) in [
        ("Q1 2025", "from 2025-01 to 2025-03"),
        ("q4 2025 or today", "from October 2025 to December 2025 or today"),
        ("2025 to 2026", "from 2025 to 2026"),
        ("Monday to today", "from Monday to today"),
        ("last 24h", "last 24 hours"),
        ("past 3d", "past 3 days"),
        ("since last 2w", "since last 2 weeks"),
    ] {
        assert_eq!(here.frame(short), here.frame(full), "{short}");
    }
}

#[test]
fn what_is_not_understood_is_an_error_that_says_where() {
    let here = Here::new("2026-03-18T10:00:00Z", Tz::UTC);
    for (text, reason) in [
        ("last blue moon", "`blue` is not understood"),
        ("some day", "`some` is not understood"),
        ("Monday last year", "`year` is not understood"),
        ("May 2 years ago", "`years` is not understood"),
        ("yesterday noon", "`noon` is not understood"),
        ("since", "something is missing at its end"),
        ("1700000000", "a Unix time is not understood; write it as 2026-03-01T12:00:00Z"),
        ("Q5 2025", "`Q5` is not understood"),
        ("last 24x", "`24x` is not understood"),
        ("last 3", "something is missing at its end"),
        ("..", "something is missing at its end"),
        ("last 0 days", "`0` is not understood"),
        ("2026-02-30", "February 2026 has no day 30"),
        ("2026-02-30 12:00..", "February 2026 has no day 30"),
        ("2026-04-31T12:00", "April 2026 has no day 31"),
        ("2026-13-01", "`2026-13-01` is not understood"),
        ("30 February", "February has no day 30"),
        ("February 30", "February has no day 30"),
        ("29 February 2025", "February 2025 has no day 29"),
        ("32 March", "March has no day 32"),
        ("the 32nd of March", "March has no day 32"),
        ("March 32", "March has no day 32"),
        ("from March 32 to May", "March has no day 32"),
        ("0 May", "May has no day 0"),
        ("31 April or blue", "April has no day 31"),
        ("blue, 32 March", "`blue` is not understood"),
        ("the 45th people", "`45th` is not understood"),
        ("03/04/2026", "`03/04/2026` is not understood"),
        ("today; yesterday", "`;` is not understood"),
        ("today,", "something is missing at its end"),
        ("2026-03-01..2026-03-05..2026-03-09", "`..` is not understood"),
        ("last 99999999 years", "it is further away than the calendar reaches"),
        ("last 99999999999999999999 days", "`99999999999999999999` is not understood"),
    ] {
        let error = here.try_frame(text).unwrap_err();
        assert_eq!(
            (error.code(), error.to_string().split(": ").nth(1).unwrap()),
            ("timeframe_invalid", reason),
            "{text}"
        );
        assert!(error.hint().contains("last 3 days"));
    }
    for text in [
        "2026-04-01..2026-03-01",
        "2026-03-01..2026-03-01",
        "from today to yesterday",
        "before 2025 and after 2025",
    ] {
        assert_eq!(here.try_frame(text).unwrap_err().code(), "timeframe_reversed", "{text}");
    }
    let hint = |text: &str| here.try_frame(text).unwrap_err().hint().to_owned();
    assert!(hint("2026-03-01..2026-03-01").contains("for one day give `2026-03-01`"));
    assert!(hint("2026-03-01T12:00..2026-03-01T12:00").ends_with("end the range later"));
    assert!(hint("2026-04-01..2026-03-01").starts_with("swap"));
    assert_eq!(here.try_frame("since last 9000 years").unwrap_err().code(), "time_out_of_range");
}
