//! The grammar of time expressions: a recursive descent over tokens, without a clock.

use std::fmt;
use std::mem::discriminant;

use chrono::{DateTime, Month, Utc};
use jiff::civil::{Date, DateTime as LocalTime, Time, Weekday};

use super::tokens::{Kind, Token};

pub(super) mod words;

/// One of the alternatives of an expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Part {
    During(Period),
    Since(Period),
    After(Period),
    Before(Period),
    Until(Period),
    /// `A..B`: until the start of B.
    Range(Option<Period>, Option<Period>),
    /// `from A to B`: until the end of B.
    Through(Period, Period),
    /// `after A and before B`: an open start and an open end.
    Both(Box<Part>, Box<Part>),
}

impl Part {
    /// Whether it has two sides, which may have been swapped.
    pub(super) fn has_two_sides(&self) -> bool {
        matches!(self, Part::Range(..) | Part::Through(..) | Part::Both(..))
    }

    /// Its periods.
    pub(super) fn periods(&self) -> Vec<&Period> {
        match self {
            Part::During(it) | Part::Since(it) | Part::After(it) | Part::Before(it) | Part::Until(it) => {
                vec![it]
            }
            Part::Range(from, until) => from.iter().chain(until).collect(),
            Part::Through(from, to) => vec![from, to],
            Part::Both(from, until) => [from.periods(), until.periods()].concat(),
        }
    }

    /// Its years that are written as four digits alone.
    pub(super) fn bare_years(&self) -> impl Iterator<Item = i16> {
        self.periods().into_iter().filter_map(|period| match period {
            Period::Year(year) => Some(*year),
            _ => None,
        })
    }

    /// Whether both are periods of one kind, as two months are.
    pub(super) fn is_like(&self, other: &Part) -> bool {
        match (self, other) {
            (Part::During(one), Part::During(other)) => discriminant(one.day()) == discriminant(other.day()),
            _ => false,
        }
    }

    /// Whether it has no start or no end.
    pub(super) fn is_open(&self) -> bool {
        self.is_open_start() || self.is_open_end()
    }

    fn is_open_start(&self) -> bool {
        matches!(self, Part::Since(_) | Part::After(_) | Part::Range(Some(_), None))
    }

    fn is_open_end(&self) -> bool {
        matches!(self, Part::Before(_) | Part::Until(_) | Part::Range(None, Some(_)))
    }

    /// Adds an alternative to others. An open start and an open end that `and` joins are one.
    pub(super) fn add_to(self, parts: &mut Vec<Part>, joint: Option<&str>) {
        let last = parts.pop_if(|last| {
            let is_between = last.is_open_start() && self.is_open_end();
            joint == Some("and") && (is_between || (last.is_open_end() && self.is_open_start()))
        });
        parts.push(match last {
            Some(last) if last.is_open_start() => Part::Both(last.into(), self.into()),
            Some(last) => Part::Both(self.into(), last.into()),
            None => self,
        });
    }
}

/// Something with a start and an end.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Period {
    Now,
    Instant(DateTime<Utc>),
    Local(LocalTime),
    Day(Date),
    /// A time of a day.
    At(Box<Period>, Time),
    Month(i16, Months),
    Year(i16),
    /// Days from today.
    FromToday(i32),
    /// Month and day, the latest.
    MonthDay(i8, i8),
    MonthNamed(Which, Months),
    /// The month of the year that is this many from the current one.
    MonthOfYear(i32, Months),
    Weekday(Which, Weekday),
    /// The weekday of the week that is this many from the current one.
    WeekdayOfWeek(i32, Weekday),
    PartOfDay(Box<Period>, PartOfDay),
    /// The unit that is this many from the current one.
    Calendar(Unit, i32),
    Weekend(i32),
    LatestWeekend,
    /// This long until now.
    Back(Unit, i64),
    /// This long from now.
    Ahead(Unit, i64),
    Ago(Unit, i64),
}

impl Period {
    /// The day that it is a part of; itself, if it is of none.
    fn day(&self) -> &Period {
        match self {
            Period::At(day, _) | Period::PartOfDay(day, _) => day,
            period => period,
        }
    }

    /// Whether it is a point in time.
    pub(super) fn is_instant(&self) -> bool {
        matches!(self, Period::Now | Period::Instant(_) | Period::Local(_) | Period::At(..))
    }
}

/// A month, or the months of a quarter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Months {
    /// 1 to 12.
    pub(super) first: i8,
    pub(super) count: i8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    Last,
    This,
    Next,
    /// The latest that has begun.
    Latest,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PartOfDay {
    Morning,
    Afternoon,
    Evening,
    Night,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Quarter,
    Year,
}

/// The certainty that words in a sentence mean a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Clarity {
    /// Not in a sentence.
    Alone,
    /// Only where nothing else is possible.
    Never,
    /// After `on`, `in`, `since` and the like.
    Led,
    /// Anywhere.
    Clear,
}

/// A part with its context.
#[derive(Debug)]
pub(super) struct Said {
    pub(super) part: Part,
    pub(super) clarity: Clarity,
    /// The preposition that it began with.
    pub(super) lead: Option<&'static str>,
    /// Whether a bare year or weekend is at its end, so that the next word decides.
    pub(super) loose: bool,
}

/// Prepositions that may stand before a time.
pub(super) const LEADS: &[&str] =
    &["in", "on", "during", "within", "over", "throughout", "for", "from", "of"];

/// A day that its month does not have.
#[derive(Clone, Copy, Debug)]
pub(super) struct NoDay {
    year: Option<i16>,
    month: i8,
    day: i8,
}

/// `March has no day 32`
impl fmt::Display for NoDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let month = Month::try_from(self.month.unsigned_abs()).map_or("the month", |month| month.name());
        let year = self.year.map(|year| format!(" {year}")).unwrap_or_default();
        write!(f, "{month}{year} has no day {}", self.day)
    }
}

pub(super) struct Parser<'t> {
    tokens: &'t [Token],
    at: usize,
    furthest: usize,
    no_day: Option<NoDay>,
    /// The least clarity of the periods of the current part.
    clarity: Clarity,
    loose: bool,
    /// Whether a day may be followed by a time of it, which changes nothing where the whole day is meant.
    takes_times: bool,
}

impl<'t> Parser<'t> {
    pub(super) fn new(tokens: &'t [Token]) -> Self {
        let (clarity, loose) = (Clarity::Clear, false);
        Self { tokens, at: 0, furthest: 0, no_day: None, clarity, loose, takes_times: true }
    }

    /// A parser in the middle of a sentence. A time of a day stays a word to search for.
    pub(super) fn starting_at(tokens: &'t [Token], at: usize) -> Self {
        Self { at, takes_times: false, ..Self::new(tokens) }
    }

    /// The index of the next token.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// The index of the furthest token that could not be parsed.
    pub(super) fn furthest(&self) -> usize {
        self.furthest
    }

    /// The first day that its month does not have.
    pub(super) fn no_day(&self) -> Option<NoDay> {
        self.no_day
    }

    /// Parses all tokens; none when something is left over.
    pub(super) fn whole(&mut self) -> Option<Vec<Part>> {
        let mut parts = Vec::new();
        if self.tokens.is_empty() {
            return Some(parts);
        }
        let mut joint = None;
        loop {
            let part = match self.attempt(Self::span) {
                Some(span) => span,
                None => self.part()?.part,
            };
            part.add_to(&mut parts, joint);
            if self.at == self.tokens.len() {
                return Some(parts);
            }
            joint = Some(self.joint()?);
        }
    }

    /// `A to B`. In a sentence, it may be something else.
    fn span(&mut self) -> Option<Part> {
        let from = self.period()?;
        self.word(&["to"])?;
        Some(Part::Through(from, self.period()?))
    }

    /// Parses one alternative.
    pub(super) fn part(&mut self) -> Option<Said> {
        self.clarity = Clarity::Clear;
        self.loose = false;
        let (part, lead) = None
            .or_else(|| self.attempt(|it| Some((it.range()?, None))))
            .or_else(|| self.attempt(|it| Some((it.through()?, None))))
            .or_else(|| self.attempt(|it| Some((it.relation()?, None))))
            .or_else(|| {
                self.attempt(|it| {
                    let lead = it.attempt(|it| it.word(LEADS));
                    Some((Part::During(it.listed()?), lead))
                })
            })?;
        Some(Said { part, clarity: self.clarity, lead, loose: self.loose })
    }

    /// Parses what joins alternatives: `or`, `and`, `&`, `as well as`, each also after a comma, or a comma alone.
    pub(super) fn joint(&mut self) -> Option<&'static str> {
        let comma = self.comma().then_some(",");
        let sign = self.skip(Kind::And).then_some("and");
        sign.or_else(|| self.attempt(|it| it.word(&["or", "and"])))
            .or_else(|| self.attempt(Self::as_well_as))
            .or(comma)
    }

    fn as_well_as(&mut self) -> Option<&'static str> {
        self.word(&["as"])?;
        self.word(&["well"])?;
        self.word(&["as"])?;
        Some("and")
    }

    /// A period. After `either` and `both`, another one must follow: "both March releases" are of one month.
    fn listed(&mut self) -> Option<Period> {
        let is_list = self.attempt(|it| it.word(&["either", "both"])).is_some();
        let takes_time = self.takes_times || self.is_listed_with_time();
        let period = if takes_time { self.period()? } else { self.period_without_time()? };
        // The other one is read again as a part of its own.
        let here = (self.at, self.clarity, self.loose);
        let is_alone = is_list && self.another().is_none();
        (self.at, self.clarity, self.loose) = here;
        (!is_alone).then_some(period)
    }

    /// Whether a day and its time are followed by another period: "on Monday at 09:00 and Tuesday". Half of the list would
    /// hide the other half.
    fn is_listed_with_time(&mut self) -> bool {
        let here = (self.at, self.clarity, self.loose);
        let day = self.period_without_time();
        let has_time = day.is_some_and(|day| self.time_of(&day).is_some());
        let is_listed = has_time && self.another().is_some();
        (self.at, self.clarity, self.loose) = here;
        is_listed
    }

    fn another(&mut self) -> Option<Period> {
        self.joint()?;
        self.attempt(|it| it.word(LEADS));
        self.period()
    }

    /// `A..B`, `A..`, `..B`
    fn range(&mut self) -> Option<Part> {
        let from = self.attempt(Self::period);
        self.dots()?;
        let until = self.attempt(Self::period);
        if from.is_none() && until.is_none() {
            return None;
        }
        // Two dots are written on purpose.
        self.clarity = Clarity::Clear;
        self.loose = false;
        Some(Part::Range(from, until))
    }

    /// `from A to B`, `between A and B`
    fn through(&mut self) -> Option<Part> {
        let ends: &[_] = match self.word(&["from", "between"])? {
            "from" => &["to", "until", "till", "through"],
            _ => &["and"],
        };
        let from = self.period()?;
        self.word(ends)?;
        let to = self.period()?;
        self.clarity = match self.clarity {
            Clarity::Never => Clarity::Led,
            clarity => clarity,
        };
        Some(Part::Through(from, to))
    }

    /// `since A` and the like.
    fn relation(&mut self) -> Option<Part> {
        let relation = match self.word(&["since", "after", "before", "until", "till"])? {
            "since" => Part::Since,
            "after" => Part::After,
            "before" => Part::Before,
            _ => Part::Until,
        };
        self.attempt(|it| it.word(&["in", "on"]));
        let period = self.period()?;
        // A period that is clear after `on` is clear here.
        if self.clarity == Clarity::Led {
            self.clarity = Clarity::Clear;
        }
        Some(relation(period))
    }

    /// Lowers the clarity of the current part.
    fn only(&mut self, clarity: Clarity) {
        self.clarity = self.clarity.min(clarity);
    }

    fn attempt<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let (at, clarity, loose) = (self.at, self.clarity, self.loose);
        let found = read(self);
        if found.is_none() {
            (self.at, self.clarity, self.loose) = (at, clarity, loose);
        }
        found
    }

    /// The next token's text, when it is a word.
    fn peek(&self) -> Option<&'t str> {
        self.tokens.get(self.at).filter(|token| token.kind == Kind::Word).map(|token| token.text.as_str())
    }

    fn take<T>(&mut self, read: impl FnOnce(&'t str) -> Option<T>) -> Option<T> {
        self.furthest = self.furthest.max(self.at);
        let found = read(self.peek()?)?;
        self.at += 1;
        self.furthest = self.furthest.max(self.at);
        Some(found)
    }

    /// Takes one of these words.
    fn word(&mut self, words: &[&'static str]) -> Option<&'static str> {
        self.take(|text| words.iter().find(|word| **word == text).copied())
    }

    fn comma(&mut self) -> bool {
        self.skip(Kind::Comma)
    }

    fn dots(&mut self) -> Option<()> {
        self.skip(Kind::Dots).then_some(())
    }

    fn skip(&mut self, kind: Kind) -> bool {
        let found = self.tokens.get(self.at).is_some_and(|token| token.kind == kind);
        self.at += usize::from(found);
        self.furthest = self.furthest.max(self.at);
        found
    }
}
