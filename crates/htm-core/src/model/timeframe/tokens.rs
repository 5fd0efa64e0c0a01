//! The tokens of a text, with their positions.

use std::ops::Range;

/// A token of the grammar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    /// The text: a word in lower case, without `'s`; anything else as it is.
    pub(super) text: String,
    /// Its byte range in the text, including `'s`.
    pub(super) span: Range<usize>,
    /// Whether it ended with `'s`.
    pub(super) possessive: bool,
    /// Whether its first letter is a capital.
    pub(super) capital: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Word,
    Comma,
    /// `&`
    And,
    /// `..`
    Dots,
    /// Anything else that is not white space.
    Other,
}

pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let (kind, length) = if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        } else if rest.starts_with("...") {
            (Kind::Other, 3)
        } else if rest.starts_with("..") {
            (Kind::Dots, 2)
        } else if first == ',' {
            (Kind::Comma, 1)
        } else if first == '&' {
            (Kind::And, 1)
        } else {
            match word_length(rest) {
                0 => (Kind::Other, first.len_utf8()),
                length => (Kind::Word, length),
            }
        };
        found.push(token(kind, &rest[..length], at));
        at += length;
    }
    found
}

fn token(kind: Kind, text: &str, at: usize) -> Token {
    let word = text.strip_suffix("'s").or_else(|| text.strip_suffix("’s"));
    Token {
        kind,
        text: word.unwrap_or(text).to_lowercase(),
        span: at..at + text.len(),
        possessive: word.is_some(),
        capital: text.starts_with(char::is_uppercase),
    }
}

/// The number of bytes of the word at the text's start. `last-minute`, `v17.2` and `2026-03-01T12:00:00+02:00` are one
/// word each.
fn word_length(text: &str) -> usize {
    let mut previous = None;
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let joins = matches!(character, '-' | ':' | '+' | '.' | '\'' | '’' | '/' | '_' | '@');
        let next = characters.peek().map(|(_, next)| *next);
        let inside = previous.is_some_and(char::is_alphanumeric) && next.is_some_and(char::is_alphanumeric);
        let is_part = character.is_alphanumeric() || (joins && inside);
        if !is_part {
            return at;
        }
        previous = Some(character);
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<(Kind, String)> {
        tokens(text).into_iter().map(|token| (token.kind, token.text)).collect()
    }

    #[test]
    fn words_keep_what_joins_them() {
        let word = |text: &str| (Kind::Word, text.to_owned());
        assert_eq!(words("Last-minute v17.2"), [word("last-minute"), word("v17.2")]);
        let [from, dots, until] = &words("2026-03-01T12:00:00+02:00..2026-04-01")[..] else { panic!() };
        assert_eq!((from, until), (&word("2026-03-01t12:00:00+02:00"), &word("2026-04-01")));
        assert_eq!(dots.0, Kind::Dots);
        assert_eq!(words("Today’s")[0], word("today"));
        assert!(tokens("Today’s")[0].possessive && tokens("Today’s")[0].capital);
        let kinds: Vec<Kind> = words("'now', ... (x)").into_iter().map(|(kind, _)| kind).collect();
        use Kind::*;
        assert_eq!(kinds, [Other, Word, Other, Comma, Other, Other, Word, Other]);
    }
}
