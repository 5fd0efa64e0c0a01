//! The pieces of a query's text, and the kind of the text.

use super::term;

/// The most words beside the signs; with more of them, it is a text.
const FEW: usize = 4;

/// The characters that end a sentence.
const END: [char; 5] = ['.', '!', '?', ';', '…'];

/// The dashes of exclusions. Keyboards and pages make a dash, a minus sign or a wide hyphen of a hyphen.
const DASHES: [char; 8] = ['-', '–', '—', '−', '－', '\u{fe63}', '\u{2010}', '\u{2011}'];

/// A piece of a text. All pieces together are the text.
#[derive(Clone, Copy, Debug)]
pub(super) enum Piece<'a> {
    /// A quotation at a word's start.
    Quotation {
        /// Whether a dash precedes it.
        is_negated: bool,
        phrase: &'a str,
        /// The quotation with the dash and the marks.
        source: &'a str,
        /// Whether a word follows directly.
        is_joined: bool,
    },
    /// From a word's start to the next white space.
    Token(&'a str),
    /// White space, a bracket, or a character that follows a quotation directly.
    Between(char),
}

/// The kind of a query's text, which decides whether its signs are meant as signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// Nothing but signs.
    Signs,
    /// A few words and signs, as they are typed into a search box.
    Keywords,
    /// Sentences, as they are pasted: quotation marks and dashes are punctuation.
    Text,
}

pub(super) fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    let mut before = None;
    while let Some(first) = rest.chars().next() {
        if starts_word(before) {
            let unsigned = rest.strip_prefix(DASHES);
            if let Some((phrase, after)) = quotation(unsigned.unwrap_or(rest)) {
                pieces.push(Piece::Quotation {
                    is_negated: unsigned.is_some(),
                    phrase,
                    source: &rest[..rest.len() - after.len()],
                    is_joined: after.starts_with(char::is_alphanumeric),
                });
                before = Some('"');
                rest = after;
                continue;
            }
            let token = &rest[..rest.find(char::is_whitespace).unwrap_or(rest.len())];
            if !token.is_empty() && !is_bracket(first) {
                pieces.push(Piece::Token(token));
                before = token.chars().next_back();
                rest = &rest[token.len()..];
                continue;
            }
        }
        pieces.push(Piece::Between(first));
        before = Some(first);
        rest = &rest[first.len_utf8()..];
    }
    pieces
}

impl Reading {
    pub(super) fn of(text: &str, pieces: &[Piece<'_>]) -> Self {
        let tokens = || {
            pieces.iter().filter_map(|piece| match piece {
                Piece::Token(token) => Some(*token),
                _ => None,
            })
        };
        let words = tokens().filter(|token| is_word(token)).count();
        let is_sentence = text.trim_end().ends_with('?')
            || text.trim().contains('\n')
            || (words > 0 && ends_after_quotation(pieces))
            || tokens().any(|token| is_word(token) && token.ends_with(END));
        match words {
            _ if is_sentence || words > FEW => Self::Text,
            0 => Self::Signs,
            _ => Self::Keywords,
        }
    }
}

/// Whether a sentence ends with a quotation: `I read "The Alchemist".`
fn ends_after_quotation(pieces: &[Piece<'_>]) -> bool {
    let mut last =
        pieces.iter().rev().skip_while(|piece| matches!(piece, Piece::Between(c) if c.is_whitespace()));
    matches!(last.next(), Some(Piece::Between(c)) if END.contains(c))
        && matches!(last.next(), Some(Piece::Quotation { is_negated: false, .. }))
}

/// The word that a token excludes.
pub(super) fn negated(token: &str) -> Option<&str> {
    token.strip_prefix(DASHES).filter(|word| word.starts_with(char::is_alphanumeric))
}

/// Whether a token is a word and no sign.
fn is_word(token: &str) -> bool {
    token.contains(char::is_alphanumeric)
        && negated(token).is_none()
        && term::prefix(token).is_none()
        && term::exact(token).is_none()
}

fn starts_word(before: Option<char>) -> bool {
    before.is_none_or(|c| c.is_whitespace() || is_bracket(c))
}

fn is_bracket(c: char) -> bool {
    matches!(c, '(' | '[' | '{')
}

/// The marks of quotations, opening and closing.
const MARKS: [(char, char); 4] = [('"', '"'), ('“', '”'), ('„', '“'), ('«', '»')];

/// Whether a query's text says nothing: it is empty, white space, or a quotation of nothing.
pub(crate) fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || MARKS.iter().any(|(open, close)| c == *open || c == *close))
}

/// The quotation that a text begins with, without its marks, and the text after it.
fn quotation(text: &str) -> Option<(&str, &str)> {
    let first = text.chars().next()?;
    let (open, close) = MARKS.into_iter().find(|(open, _)| *open == first)?;
    let inner = &text[open.len_utf8()..];
    let (phrase, after) = inner.split_once(close)?;
    phrase.contains(char::is_alphanumeric).then_some((phrase, after))
}
