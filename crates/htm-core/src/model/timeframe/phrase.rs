//! The time phrase in a query. It is found where it cannot mean anything else, and is cut out.
//!
//! A missed phrase costs little: the query is searched as it is. A false phrase hides memories. So words that also mean
//! something else (`may`, `march`, `the weekend project`, `last minute changes`, `release 2026-03-01`) are taken only
//! after a preposition, and not even then if a noun follows. A date in digits is taken alone, too.

use std::ops::{Range, RangeInclusive};

use chrono::Datelike;

use super::expression::{MAX_PARTS, TimeExpression};
use super::grammar::words::{NUMBERS, is_short_month, unit as unit_of};
use super::grammar::{Clarity, LEADS, Parser, Part, Period, Said};
use super::tokens::{Kind, Token, tokens};

/// A phrase of a query.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Phrase {
    /// Its byte range in the query.
    pub(super) span: Range<usize>,
    pub(super) expression: TimeExpression,
}

/// The possible time phrases of the query, the longest first, none within another. Four digits are a year from 1900 to
/// `last_year`; otherwise they may be a port, or rows.
pub(super) fn phrases(query: &str, last_year: i16) -> Vec<Phrase> {
    let mut tokens = tokens(query);
    let quotes = quotes(query);
    for token in &mut tokens {
        let at = quotes.partition_point(|quote| quote.end <= token.span.start);
        if quotes.get(at).is_some_and(|quote| quote.contains(&token.span.start)) {
            token.kind = Kind::Other;
        }
    }
    let years = FIRST_YEAR..=last_year;
    if let Some(phrase) = only_dates(query, &tokens, &years) {
        return vec![phrase];
    }
    let shouted = !query.chars().any(char::is_lowercase);
    // With the token that each was read from: all of their parts at once would be many.
    let mut all: Vec<(Range<usize>, usize)> = Vec::new();
    let mut refused = 0;
    let read = |at| read(&tokens, at, &years);
    for at in 0..tokens.len() {
        match read(at) {
            Read::Phrase(range, _) if at >= refused => all.push((range, at)),
            // "by March last year" is not "last year".
            Read::Refused(end) => refused = refused.max(end),
            _ => {}
        }
    }
    all.sort_by_key(|(range, _)| (usize::MAX - range.len(), range.start));
    let mut taken = vec![false; tokens.len()];
    all.retain(|(range, _)| {
        let taken = &mut taken[range.clone()];
        let is_apart = !taken.contains(&true);
        if is_apart {
            taken.fill(true);
        }
        is_apart
    });
    // "one year ago today": two phrases that touch are one that was not understood.
    let is_taken = |at: usize| taken.get(at) == Some(&true);
    let touches =
        |range: &Range<usize>| is_taken(range.end) || range.start.checked_sub(1).is_some_and(is_taken);
    all.retain(|(range, _)| !touches(range) && (shouted || !has_odd_capital(&tokens, range.clone())));
    let phrase = |(range, at): (Range<usize>, usize)| {
        let Read::Phrase(_, parts) = read(at) else { return None };
        let span = tokens[range.start].span.start..tokens[range.end - 1].span.end;
        Some(Phrase { expression: TimeExpression::new(query[span.clone()].into(), parts), span })
    };
    all.into_iter().filter_map(phrase).collect()
}

/// The query, if it is nothing but dates in digits. Beside other words they may be a part of a name.
fn only_dates(query: &str, tokens: &[Token], years: &RangeInclusive<i16>) -> Option<Phrase> {
    let last = tokens.iter().rposition(|token| token.text.contains(char::is_alphanumeric))?;
    let tokens = &tokens[..=last];
    let parts = Parser::new(tokens).whole()?;
    if parts.len() > MAX_PARTS || !parts.iter().all(|part| is_dated(part, years)) {
        return None;
    }
    let span = tokens[0].span.start..tokens[last].span.end;
    Some(Phrase { expression: TimeExpression::new(query[span.clone()].into(), parts), span })
}

/// Whether a part is a day or a month with a year of these: `2026-03-01`, `2026-03`. Other digits may be a number.
fn is_dated(part: &Part, years: &RangeInclusive<i16>) -> bool {
    fn year(period: &Period) -> Option<i16> {
        match period {
            Period::Day(date) => Some(date.year()),
            Period::Month(year, months) if months.count == 1 => Some(*year),
            Period::Local(time) => Some(time.year()),
            Period::Instant(time) => i16::try_from(time.year()).ok(),
            Period::PartOfDay(day, _) => year(day),
            _ => None,
        }
    }
    matches!(part, Part::During(period) if year(period).is_some_and(|year| years.contains(&year)))
}

/// The query without the phrase; empty when nothing to search for is left.
pub(super) fn without(query: &str, span: &Range<usize>) -> String {
    let mut left = query[..span.start].trim_end();
    let mut right = query[span.end..].trim_start();
    let closes = |text: &str| text.starts_with(['.', ',', ';', ':', '?', '!', ')']);
    if left.ends_with('(') && right.starts_with(')') {
        left = left[..left.len() - 1].trim_end();
        right = right[1..].trim_start();
    }
    // Commas that set the phrase apart.
    if right.starts_with(',') && (left.is_empty() || left.ends_with(',')) {
        right = right[1..].trim_start();
    }
    if left.ends_with(',') && (right.is_empty() || closes(right)) {
        left = left[..left.len() - 1].trim_end();
    }
    let space = if left.is_empty() || right.is_empty() || closes(right) { "" } else { " " };
    let rest = format!("{left}{space}{right}");
    if rest.contains(char::is_alphanumeric) { rest } else { String::new() }
}

/// The result of reading from a token on.
enum Read {
    /// The tokens and the parts of a phrase.
    Phrase(Range<usize>, Vec<Part>),
    /// The words of a time until this token mean something else here, so none of them is a phrase.
    Refused(usize),
    Nothing,
}

/// The phrase that begins with token `at`.
fn read(tokens: &[Token], at: usize, years: &RangeInclusive<i16>) -> Read {
    let before = at.checked_sub(1).and_then(|before| tokens.get(before)).filter(|it| it.kind == Kind::Word);
    // After a preposition or an article, the phrase that begins with it was refused.
    let is_refused = |word: &str| TURNS.contains(&word) || LEADS.contains(&word) || word == "the";
    let is_refused = before.is_some_and(|before| is_refused(&before.text)) || is_distance(&tokens[..=at]);
    let mut parser = Parser::starting_at(tokens, at);
    let mut parts: Vec<Part> = Vec::new();
    let mut range = at..at;
    let (mut joint, mut lead) = (None, None);
    // The parts and the end before a list that no conjunction has ended: "in March, May asked".
    let mut list = None;
    while let Some(mut said) = parser.part() {
        // "in October and November"
        if said.lead.is_none() && parts.last().is_some_and(|last| last.is_like(&said.part)) {
            said.lead = lead;
        }
        let words = &tokens[range.end..parser.at()];
        let is_time = is_time(&said, words, tokens.get(parser.at()), before, years)
            && said.part.bare_years().all(|year| years.contains(&year));
        if !is_time || (parts.is_empty() && is_refused) {
            // Half of "since March and April" would hide the memories of the other half. In "yesterday and March
            // budget", March is no time.
            let is_apart = |last: &Part| !last.is_open() && !last.is_like(&said.part);
            let is_of_noun =
                parts.last().is_some_and(is_apart) && tokens.get(parser.at()).is_some_and(is_noun);
            if joint != Some(",") && !is_of_noun {
                return Read::Refused(parser.at());
            }
            break;
        }
        match joint {
            Some(",") => list = list.or(Some((parts.len(), range.end))),
            _ => list = None,
        }
        // "in yesterday's meeting": the preposition belongs to the meeting.
        if parts.is_empty() && said.lead.is_some() && words.last().is_some_and(|last| last.possessive) {
            range.start += 1;
        }
        range.end = parser.at();
        lead = said.lead;
        said.part.add_to(&mut parts, joint);
        // As an expression, it would be an error.
        if parts.len() > MAX_PARTS {
            return Read::Refused(parser.at());
        }
        joint = parser.joint();
        if joint.is_none() {
            break;
        }
    }
    if let Some((count, end)) = list {
        parts.truncate(count);
        range.end = end;
    }
    if parts.is_empty() { Read::Nothing } else { Read::Phrase(range, parts) }
}

/// Whether the words before a time are a distance from it: "two days before", "the week after".
fn is_distance(words: &[Token]) -> bool {
    let [.., how_many, unit, relation] = words else { return false };
    let is_count = |word: &str| {
        word.bytes().all(|byte| byte.is_ascii_digit())
            || NUMBERS.contains(&word)
            || ["the", "a", "an", "few", "several", "couple", "of"].contains(&word)
    };
    [how_many, unit, relation].iter().all(|word| word.kind == Kind::Word)
        && matches!(relation.text.as_str(), "before" | "after" | "since")
        && (unit_of(&unit.text).is_some() || matches!(unit.text.as_str(), "night" | "weekend"))
        && is_count(&how_many.text)
}

/// Whether a part of a sentence can only mean a time.
fn is_time(
    said: &Said,
    words: &[Token],
    next: Option<&Token>,
    before: Option<&Token>,
    years: &RangeInclusive<i16>,
) -> bool {
    let lead = said.lead.unwrap_or_default();
    let next_word = next.filter(|next| next.kind == Kind::Word).map(|next| next.text.as_str());
    // "the outage of 2026-03", but "the ides of March".
    let is_led = matches!(lead, "in" | "on" | "during" | "within" | "over" | "throughout")
        || (lead == "of" && is_dated(&said.part, years));
    let is_clear = match &said.part {
        Part::Through(..) => said.clarity > Clarity::Alone,
        _ => said.clarity == Clarity::Clear || (said.clarity == Clarity::Led && is_led),
    };
    // "last week of March", "after last Monday's deploy", "the end of last week", "over two weeks ago".
    let is_bent = next_word == Some("of")
        || (!matches!(said.part, Part::During(_)) && words.last().is_some_and(|last| last.possessive))
        || (lead == "of" && before.is_some_and(|before| PIECES.contains(&before.text.as_str())))
        || (is_led && matches!(said.part, Part::During(Period::Ago(..))));
    // "in 2000 rows", "over the weekend project".
    let goes_on = said.loose && next.is_some_and(is_noun);
    // "the last may fail", "march on"; with a year it is a month.
    let has_year = is_led && matches!(said.part, Part::During(Period::MonthOfYear(..)));
    let is_verb = !has_year
        && (words.windows(2).any(|pair| is_verb(&pair[0]) && !is_year(&pair[1]))
            || words.last().is_some_and(is_verb));
    // "3 mar", "jan": names of people and of much else; with a year it is a month, and so it is in "on Nov 29".
    let is_day = said.part.periods().into_iter().all(is_month_day)
        && (lead == "on" || !matches!(said.part, Part::During(_)));
    let is_short =
        words.iter().any(|word| is_short_month(&word.text)) && !words.iter().any(is_year) && !is_day;
    // "the least recently used", "recently used files".
    let is_how_recent = words.last().is_some_and(|last| last.text == "recently")
        && (before.is_some_and(|before| ["least", "less", "more", "most"].contains(&before.text.as_str()))
            || next_word.is_some_and(is_participle));
    is_clear && !is_bent && !goes_on && !is_verb && !is_short && !is_how_recent
}

/// Whether a period is a day of a month without a year, or a part of it.
fn is_month_day(period: &Period) -> bool {
    match period {
        Period::MonthDay(..) => true,
        Period::PartOfDay(day, _) | Period::At(day, _) => is_month_day(day),
        _ => false,
    }
}

const FIRST_YEAR: i16 = 1900;

/// Whether a word is a participle, as `used` or `built` after `recently`.
fn is_participle(word: &str) -> bool {
    (word.len() > 3 && word.ends_with("ed")) || IRREGULAR.binary_search(&word).is_ok()
}

/// Participles without `ed`, sorted.
const IRREGULAR: &[&str] = &[
    "become",
    "been",
    "begun",
    "bought",
    "broken",
    "brought",
    "built",
    "caught",
    "chosen",
    "come",
    "cut",
    "done",
    "drawn",
    "driven",
    "fallen",
    "felt",
    "forgotten",
    "found",
    "frozen",
    "given",
    "gone",
    "got",
    "gotten",
    "grown",
    "heard",
    "held",
    "hidden",
    "hit",
    "kept",
    "known",
    "learnt",
    "led",
    "left",
    "lent",
    "let",
    "lost",
    "made",
    "meant",
    "met",
    "paid",
    "put",
    "read",
    "rebuilt",
    "rewritten",
    "risen",
    "run",
    "said",
    "seen",
    "sent",
    "set",
    "shown",
    "shut",
    "sold",
    "spent",
    "split",
    "spoken",
    "spread",
    "stolen",
    "sunk",
    "taken",
    "taught",
    "thought",
    "thrown",
    "told",
    "understood",
    "withdrawn",
    "won",
    "worn",
    "written",
];

/// Words after which a time is part of something else: a comparison, a longer expression.
const TURNS: &[&str] = &[
    "than", "like", "unlike", "as", "to", "not", "except", "versus", "vs", "by", "prior", "since", "before",
    "after", "until", "till", "between", "half",
];

/// Words before `of last week` that make it mean a piece of the week, or something else.
const PIECES: &[&str] = &[
    "end",
    "start",
    "beginning",
    "middle",
    "first",
    "second",
    "half",
    "part",
    "rest",
    "most",
    "day",
    "days",
    "week",
    "weeks",
    "month",
    "months",
    "quarter",
    "as",
    "because",
    "instead",
    "ahead",
    "out",
];

/// Whether a word may be a noun that a time before it belongs to.
fn is_noun(token: &Token) -> bool {
    token.kind == Kind::Word && !GO_ON.contains(&token.text.as_str())
}

/// Words that may follow a year or a weekend in a sentence.
const GO_ON: &[&str] = &[
    "a",
    "about",
    "and",
    "are",
    "as",
    "at",
    "by",
    "did",
    "do",
    "does",
    "for",
    "from",
    "had",
    "has",
    "have",
    "how",
    "i",
    "in",
    "is",
    "it",
    "of",
    "on",
    "or",
    "our",
    "regarding",
    "that",
    "the",
    "they",
    "to",
    "was",
    "we",
    "were",
    "what",
    "when",
    "where",
    "which",
    "who",
    "why",
    "with",
    "you",
];

/// Whether a word of the phrase has a capital without a reason. It is part of a name then: "USA Today", "Last Week
/// Tonight".
fn has_odd_capital(tokens: &[Token], range: Range<usize>) -> bool {
    range.clone().any(|at| {
        let token = &tokens[at];
        let starts_sentence = at == 0 || (tokens[at - 1].kind == Kind::Other);
        token.capital && !starts_sentence && !is_name(&token.text)
    })
}

/// Whether English writes a word with a capital.
fn is_name(word: &str) -> bool {
    const NAMES: &[&str] = &[
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
        "q1",
        "q2",
        "q3",
        "q4",
    ];
    NAMES.contains(&word) || is_short_month(word)
}

/// Whether a word is `may`, `march` or `august` in lower case: they are months only with a capital.
fn is_verb(token: &Token) -> bool {
    matches!(token.text.as_str(), "may" | "march" | "august") && !token.capital
}

fn is_year(token: &Token) -> bool {
    token.text.len() == 4 && token.text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The quotations in a text in order, with their marks. An unclosed mark starts none, nor does an apostrophe.
fn quotes(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    // What one mark does not find in the rest of the text, no later one of its kind does.
    let mut unclosed = Vec::new();
    let mut at = 0;
    while let Some(open) = text[at..].chars().next() {
        let start = at;
        at += open.len_utf8();
        let close = match open {
            '"' | '`' | '\'' => open,
            '“' | '„' => '”',
            '«' => '»',
            '‘' => '’',
            _ => continue,
        };
        let is_inside_word = |at: usize| {
            let before = text[..at].chars().next_back().is_some_and(char::is_alphanumeric);
            let after = text[at..].chars().nth(1).is_some_and(char::is_alphanumeric);
            (before, after)
        };
        let is_single = matches!(open, '\'' | '‘');
        if unclosed.contains(&open) || (is_single && is_inside_word(start).0) {
            continue;
        }
        let end = text[at..].char_indices().map(|(place, character)| (at + place, character)).find(
            |(place, it)| {
                (*it == close || (open == '„' && *it == '“')) && !(is_single && is_inside_word(*place).1)
            },
        );
        match end {
            Some((end, close)) => {
                at = end + close.len_utf8();
                found.push(start..at);
            }
            None => unclosed.push(open),
        }
    }
    found
}

#[cfg(test)]
mod tests;
