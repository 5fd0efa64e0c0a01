//! The words and the signs of a query's text.
//!
//! | sign | effect |
//! |---|---|
//! | `"a phrase"` | hits must contain these words in this order, if the query has only signs; beside other words, hits that contain them come first |
//! | `-word`, `-"a phrase"` | hits must not contain it; in sentences, no effect |
//! | `word*` | words with this prefix |
//! | `-word*`, `-foo_b*` | hits must not contain a word or a term with this prefix |
//! | `猫`, a letter of a script without spaces | words with this prefix: full text has it in pairs, unless it ends a run |
//! | `회의`, a word of Hangul | words with this prefix: particles follow it without a space |
//! | `17.2`, `--flag`, `snake_case`, `a::b`, `C++`, `#123`, `foo/bar.rs`, `PROJ-17` | hits that contain it as written come first |
//!
//! A sign counts at a word's start, after white space or a bracket. An unclosed quotation mark and a dash between
//! spaces are no signs. Dashes (`–`, `—`), a minus sign (`−`) and a wide hyphen (`－`) are as good as a hyphen.
//!
//! Queries may be sentences that were read elsewhere. In sentences, a quotation is no condition, a word in quotation
//! marks is a word, and a dash is no negation. A text with a full stop, a question mark or a line break, or of more
//! than four words beside its signs, counts as sentences.
//!
//! A text of more than 1,000 characters or 16 signs of one kind counts as pasted. It has no signs.

mod alike;
mod pattern;
mod pieces;
mod script;
mod term;

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use unicode_normalization::{UnicodeNormalization, is_nfc};

use crate::model::lexeme::quoted;
pub(crate) use pattern::folded;
use pattern::{as_written, beginning, is_direction, lowered, spellings};
pub(crate) use pieces::is_blank;
use pieces::{Piece, Reading, negated, pieces};
pub(crate) use script::{asked_runs, is_unspaced, letter, of_letters};

/// The most characters of a text with signs.
const LONGEST: usize = 1_000;
/// The most signs of each kind.
const MOST: usize = 16;

/// The words and the signs of a query's text.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Words {
    /// The text without its signs, to be embedded.
    pub(crate) plain: String,
    /// The signs.
    pub(crate) signs: Vec<Sign>,
}

/// A sign.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub(crate) struct Sign {
    pub(crate) kind: SignKind,
    /// The text for full-text search, which is given it in pairs of letters in scripts without spaces.
    #[serde(serialize_with = "paired")]
    pub(crate) text: String,
    /// The regular expression of PostgreSQL that finds it as written.
    #[serde(skip)]
    pattern: String,
    /// Whether full-text search drops some of it, so that it must be there as written.
    #[serde(skip)]
    written: bool,
    /// The beginnings of the lexemes of a prefix.
    beginnings: Vec<String>,
    /// Further lexemes for full-text search, as a `tsquery`.
    also: Option<String>,
    /// The pattern of the lexemes that contain it, for `like`.
    within: Option<String>,
    /// The words within it that full-text search would miss, because `artists/bands` is one token to it. They are
    /// searched as well.
    parts: Option<String>,
}

fn paired<S: serde::Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&script::pairs(text))
}

/// The kind of a sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SignKind {
    /// Hits contain it.
    Phrase,
    /// Hits do not contain it.
    Without,
    /// Hits contain no word with this prefix.
    WithoutPrefix,
    /// Words with this prefix are words of the query.
    Prefix,
    /// Hits that contain it as written come first.
    Term,
    /// As [`SignKind::Term`]: a phrase beside other words.
    Quotation,
}

impl SignKind {
    const ALL: [Self; 6] =
        [Self::Phrase, Self::Without, Self::WithoutPrefix, Self::Prefix, Self::Term, Self::Quotation];

    /// Whether hits must not contain it.
    pub(crate) fn excludes(self) -> bool {
        matches!(self, Self::Without | Self::WithoutPrefix)
    }
}

impl Sign {
    /// The regular expression of PostgreSQL that finds it as written.
    pub(crate) fn pattern(&self) -> &str {
        &self.pattern
    }

    /// The words within it that full-text search would miss.
    pub(crate) fn parts(&self) -> Option<&str> {
        self.parts.as_deref()
    }

    /// Whether it must be there as written. `is_dropped` tells whether full-text search drops some of it.
    pub(crate) fn is_as_written(&self, is_dropped: bool) -> bool {
        self.written || is_dropped
    }
}

/// The exclusions of a text that exclude nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IgnoredExclusions {
    /// As they are written.
    pub exclusions: Vec<String>,
    /// The reason, and what to do.
    pub reason: &'static str,
}

/// The exclusions of a text that exclude nothing, with the reason. None: all have an effect. A dash that begins one of
/// several lines is that of a list.
pub fn ignored_exclusions(text: &str) -> Option<IgnoredExclusions> {
    let text = &*visible(text);
    let has_lines = text.trim().contains('\n');
    let all = pieces(text);
    let mut begins_line = has_lines;
    let mut exclusions = Vec::new();
    for piece in &all {
        let written = match piece {
            Piece::Quotation { is_negated: true, source, .. } => Some(*source),
            Piece::Token(token) => negated(token).map(|_| *token),
            _ => None,
        };
        exclusions.extend(written.filter(|_| !begins_line).map(str::to_owned));
        begins_line = match piece {
            Piece::Between('\n') => has_lines,
            Piece::Between(c) => begins_line && c.is_whitespace(),
            _ => false,
        };
    }
    if exclusions.is_empty() || Words::parse(text).signs.iter().any(|sign| sign.kind.excludes()) {
        return None;
    }
    let reason = if text.chars().nth(LONGEST).is_some() {
        "the query has over 1,000 characters; shorten it"
    } else if has_lines {
        "the query has several lines; write it in one"
    } else if Reading::of(text, &all) == Reading::Text {
        "the query reads as a sentence; leave out full stops and question marks, and give at most four other words"
    } else {
        "the query has over 16 signs of one kind; give fewer"
    };
    Some(IgnoredExclusions { exclusions, reason })
}

/// A text without what is not seen of it. A mark after its letter, as a Mac writes it, is no letter to Rust.
fn visible(text: &str) -> Cow<'_, str> {
    match is_nfc(text) && !text.contains(is_direction) {
        true => Cow::Borrowed(text),
        false => text.nfc().filter(|c| !is_direction(*c)).collect(),
    }
}

impl Words {
    pub(crate) fn parse(text: &str) -> Self {
        let text = &*visible(text);
        let untouched = || Self { plain: text.into(), ..Self::default() };
        if text.chars().nth(LONGEST).is_some() {
            return untouched();
        }
        let pieces = pieces(text);
        let reading = Reading::of(text, &pieces);
        let mut words = Self::default();
        let mut is_cut = false;
        for piece in pieces {
            match piece {
                Piece::Quotation { is_negated, phrase, source, is_joined } => {
                    let kind = match (reading, is_negated) {
                        (Reading::Text, _) | (Reading::Keywords, false) => SignKind::Quotation,
                        (Reading::Signs | Reading::Keywords, true) => SignKind::Without,
                        (Reading::Signs, false) => SignKind::Phrase,
                    };
                    // A single quoted word in a sentence is a word: nearly every node may have it.
                    if reading != Reading::Text || phrase.split_whitespace().nth(1).is_some() {
                        words.sign(kind, phrase);
                    }
                    if reading == Reading::Text {
                        words.plain.push_str(source);
                        continue;
                    }
                    is_cut = true;
                    words.plain.push_str(if is_negated { "" } else { phrase });
                    words.plain.push_str(if is_joined { " " } else { "" });
                }
                Piece::Token(token) => is_cut |= words.token(token, reading),
                Piece::Between(c) => words.plain.push(c),
            }
        }
        let many = |kind| words.signs.iter().filter(|sign| sign.kind == kind).count() > MOST;
        if SignKind::ALL.into_iter().any(many) {
            return untouched();
        }
        if is_cut {
            words.plain = words.plain.split_whitespace().collect::<Vec<_>>().join(" ");
        }
        let prefixes = words.signs.iter().filter(|sign| sign.kind == SignKind::Prefix).count();
        for word in script::hangul(&words.plain.clone()).take(MOST - prefixes) {
            words.sign(SignKind::Prefix, word);
        }
        words
    }

    /// These words with further signs.
    pub(crate) fn and(mut self, signs: &[Sign]) -> Self {
        let new: Vec<Sign> = signs.iter().filter(|sign| !self.signs.contains(sign)).cloned().collect();
        self.signs.extend(new);
        self
    }

    /// These words with phrases preferred instead of required.
    pub(crate) fn relaxed(&self) -> Self {
        let relaxed = |sign: &Sign| match sign.kind {
            SignKind::Phrase => Sign { kind: SignKind::Quotation, ..sign.clone() },
            _ => sign.clone(),
        };
        Self { signs: self.signs.iter().map(relaxed).collect(), ..self.clone() }
    }

    /// The signs that a hit must contain, or must not contain.
    pub(crate) fn required(&self) -> impl Iterator<Item = &Sign> {
        self.signs.iter().filter(|sign| sign.kind == SignKind::Phrase || sign.kind.excludes())
    }

    /// The words for full-text search.
    pub(crate) fn searched(&self) -> String {
        // A prefix needs no search as a word.
        let is_prefix = |token: &str| {
            let word = term::trimmed(token);
            self.signs.iter().any(|sign| sign.kind == SignKind::Prefix && sign.text == word)
        };
        match self.has(SignKind::Prefix) {
            true => {
                self.plain.split_whitespace().filter(|token| !is_prefix(token)).collect::<Vec<_>>().join(" ")
            }
            false => self.plain.clone(),
        }
    }

    /// Whether the signs exclude some nodes from the hits.
    pub(crate) fn filters(&self) -> bool {
        self.required().next().is_some()
    }

    pub(crate) fn has(&self, kind: SignKind) -> bool {
        self.signs.iter().any(|sign| sign.kind == kind)
    }

    /// Whether a beginning of words is asked for. A letter of a script without spaces is a word, and Hangul is a beginning
    /// without a star too.
    pub(crate) fn has_beginning(&self) -> bool {
        let is_word = |text: &str| script::is_letter(text) || script::is_hangul(text);
        self.signs.iter().any(|sign| sign.kind == SignKind::Prefix && !is_word(&sign.text))
    }

    /// Adds a token. Returns whether it had a sign that is cut from the text.
    fn token(&mut self, token: &str, reading: Reading) -> bool {
        if let Some(negated) = negated(token).filter(|_| reading != Reading::Text) {
            // Hits are compared with it as written, so it may have signs.
            match term::prefix_as_written(negated) {
                Some((prefix, _)) => self.sign(SignKind::WithoutPrefix, prefix),
                None => self.sign(SignKind::Without, term::trimmed(negated)),
            }
            return true;
        }
        if let Some((prefix, after)) = term::prefix(token) {
            self.sign(SignKind::Prefix, prefix);
            self.plain.push_str(&token[..token.len() - after.len() - 1]);
            self.plain.push_str(after);
            return true;
        }
        if let Some(term) = term::exact(token) {
            self.sign(SignKind::Term, term);
        }
        for letter in script::lone_letters(token) {
            self.sign(SignKind::Prefix, letter);
        }
        self.plain.push_str(token);
        false
    }

    fn sign(&mut self, kind: SignKind, text: &str) {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let lower = lowered(&text);
        let is_number = lower.starts_with(|c: char| c.is_ascii_digit()) && !lower.contains(' ');
        let beginnings = match kind {
            SignKind::Prefix => spellings(&lower),
            _ => Vec::new(),
        };
        let also: Vec<String> = match kind {
            SignKind::Prefix => beginnings.iter().flat_map(|lower| with_shorter(lower)).collect(),
            // The lexemes of `version-17.2` and `v17.2` in full-text search.
            SignKind::Term if is_number => {
                ["-", "+", "v"].map(|sign| quoted(&format!("{sign}{lower}"))).into()
            }
            _ if script::is_letter(&text) => vec![format!("{}:*", quoted(&lower))],
            _ => with_particles(&lower).into_iter().collect(),
        };
        let is_beginning = matches!(kind, SignKind::Prefix | SignKind::WithoutPrefix);
        let sign = Sign {
            kind,
            pattern: if is_beginning { beginning(&text) } else { as_written(&text) },
            // A stem may be shorter than the prefix: full text would exclude too much or too little.
            written: kind == SignKind::WithoutPrefix
                || text.split(' ').any(|word| term::exact(word).is_some()),
            beginnings,
            also: (!also.is_empty()).then(|| also.join(" | ")),
            within: (kind == SignKind::Term && term::can_be_looked_up(&text)).then(|| {
                format!("%{}%", lower.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_"))
            }),
            parts: Some(term::hidden_parts(&text))
                .filter(|parts| kind == SignKind::Term && !parts.is_empty()),
            text,
        };
        if !self.signs.contains(&sign) {
            self.signs.push(sign);
        }
    }
}

/// The lexemes with a beginning. A word with this beginning may have a shorter stem: `configur` for `configurat*`.
fn with_shorter(lower: &str) -> Vec<String> {
    let ends: Vec<usize> = lower.char_indices().map(|(at, c)| at + c.len_utf8()).collect();
    let stems = ends.iter().skip(2).rev().take(7).map(|&end| quoted(&lower[..end]));
    std::iter::once(format!("{}:*", quoted(lower))).chain(stems).collect()
}

/// The words of a text of Hangul, of which the last may have a particle.
fn with_particles(lower: &str) -> Option<String> {
    let (before, last) = lower.rsplit_once(' ').map_or(("", lower), |(before, last)| (before, last));
    if !script::is_hangul(last) || !before.split(' ').all(|word| word.is_empty() || script::is_hangul(word)) {
        return None;
    }
    let forms: Vec<String> = script::with_particles(last).iter().map(|form| quoted(form)).collect();
    let last = format!("({})", forms.join(" | "));
    Some(before.split_whitespace().map(quoted).chain([last]).collect::<Vec<_>>().join(" <-> "))
}
