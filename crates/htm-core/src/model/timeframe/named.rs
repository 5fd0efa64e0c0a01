//! The months that a query names: a hint at its subject, never a filter.
//!
//! Unlike a false [phrase](super::phrase), a false month costs little: nodes of that month rank a bit higher. So it may
//! be anywhere in the query, and the year may be missing.

use chrono::{DateTime, Datelike, Days, FixedOffset};

use super::grammar::Period;
use super::grammar::words::{day_of_month, month, numeric, year};
use super::tokens::{Kind, Token, tokens};

/// The days after a month in which memories may still be about it.
const AFTERWARDS: u64 = 10;

/// A month of one year, or of any year.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NamedMonth {
    year: Option<i16>,
    /// 1 to 12.
    month: i8,
}

impl NamedMonth {
    /// Whether a memory of this local time may be about the month: it is of the month, or of the days after it.
    pub(crate) fn is_spoken_of(self, at: DateTime<FixedOffset>) -> bool {
        let before = at.checked_sub_days(Days::new(AFTERWARDS)).unwrap_or(at);
        [at, before].into_iter().any(|at| {
            at.month() == u32::from(self.month.unsigned_abs())
                && self.year.is_none_or(|year| at.year() == i32::from(year))
        })
    }
}

/// The months that a query names, by their names (`June`, `7 May 2023`, `Jan 3rd`) or by digits (`2023-05`,
/// `2023-05-07`), each once.
pub(crate) fn named_months(query: &str) -> Vec<NamedMonth> {
    let tokens = tokens(query);
    let mut found = Vec::new();
    for at in 0..tokens.len() {
        if let Some(named) = by_digits(&tokens[at]).or_else(|| by_name(&tokens, at))
            && !found.contains(&named)
        {
            found.push(named);
        }
    }
    found
}

fn by_digits(token: &Token) -> Option<NamedMonth> {
    match word(Some(token)).and_then(numeric)? {
        Period::Month(year, months) => Some(NamedMonth { year: Some(year), month: months.first }),
        Period::Day(date) => Some(NamedMonth { year: Some(date.year()), month: date.month() }),
        Period::Local(time) => Some(NamedMonth { year: Some(time.year()), month: time.month() }),
        _ => None,
    }
}

fn by_name(tokens: &[Token], at: usize) -> Option<NamedMonth> {
    let token = &tokens[at];
    let month = word(Some(token)).and_then(month)?;
    let mut next = at + 1;
    let day_before = at.checked_sub(1).is_some_and(|before| is_day(tokens.get(before)))
        || (at >= 2 && word(tokens.get(at - 1)) == Some("of") && is_day(tokens.get(at - 2)));
    let day_after = is_day(tokens.get(next));
    next += usize::from(day_after);
    let is_joint = |token: &Token| token.kind == Kind::Comma || token.text == "of";
    next += usize::from(tokens.get(next).is_some_and(is_joint));
    let year = word(tokens.get(next)).and_then(year);
    let is_dated = day_before || day_after || year.is_some();
    // "may", "march", "august" are other words too, and the first word of a query has a capital anyway. "mar", "dec"
    // are names.
    let is_plain = match token.text.as_str() {
        "may" | "march" | "august" => token.capital && at > 0,
        name => name.len() > 4 || matches!(name, "june" | "july"),
    };
    (is_plain || is_dated).then_some(NamedMonth { year, month })
}

fn word(token: Option<&Token>) -> Option<&str> {
    token.filter(|token| token.kind == Kind::Word).map(|token| token.text.as_str())
}

fn is_day(token: Option<&Token>) -> bool {
    word(token).and_then(day_of_month).is_some()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn months(query: &str) -> Vec<(Option<i32>, i32)> {
        named_months(query).into_iter().map(|named| (named.year.map(i32::from), named.month.into())).collect()
    }

    #[test]
    fn a_month_is_found_wherever_it_stands() {
        for (query, expected) in [
            ("What did Ann paint in June?", (None, 6)),
            ("Which city did they visit in early June 2023?", (Some(2023), 6)),
            ("the talk on 7 May 2023", (Some(2023), 5)),
            ("the talk on the 7th of May, 2023", (Some(2023), 5)),
            ("the talk on May 7, 2023", (Some(2023), 5)),
            ("August 2022 plans", (Some(2022), 8)),
            ("plans for the 3rd of august", (None, 8)),
            ("the trip of Jan 3rd", (None, 1)),
            ("jun 2021", (Some(2021), 6)),
            ("what happened on 2023-05-07?", (Some(2023), 5)),
            ("what happened in 2023-05", (Some(2023), 5)),
            ("June's concert", (None, 6)),
            ("December of 2020", (Some(2020), 12)),
        ] {
            assert_eq!(months(query), [expected], "{query}");
        }
        assert_eq!(months("from June to July 2023, June"), [(None, 6), (Some(2023), 7)]);
    }

    #[test]
    fn other_words_are_no_months() {
        for query in [
            "what may I do",
            "May I ask",
            "March on",
            "the army will march",
            "an august assembly",
            "mar the surface",
            "jan and dec",
            "in 2023",
            "release 17.2",
            "2023-13-01 2023-00",
            "",
        ] {
            assert!(months(query).is_empty(), "{query}");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_asked_has_months_from_1_to_12(query in "\\PC{0,60}") {
            for named in named_months(&query) {
                prop_assert!((1..=12).contains(&named.month));
            }
        }

        #[test]
        fn a_month_and_a_year_are_found_between_any_words(
            before in "[b-z ]{0,20}", after in "[b-z ]{0,20}", month in 1_i8..=12, year in 1900_i16..2100
        ) {
            const NAMES: [&str; 12] = ["January", "February", "March", "April", "May", "June", "July", "August",
                "September", "October", "November", "December"];
            let query = format!("{before} in {} {year} {after}", NAMES[month as usize - 1]);
            let expected = NamedMonth { year: Some(year), month };
            prop_assert!(named_months(&query).contains(&expected));
        }
    }
}
