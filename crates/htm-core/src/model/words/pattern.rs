//! Regular expressions of PostgreSQL that find a text as written, in a text that `htm.folded` gives.

use unicode_normalization::UnicodeNormalization;

use super::script::{bracket, is_unspaced};

/// Finds a text as written, in any case, and not within a larger token: `17.2` neither in `17.25` nor in `17.2.1`.
pub(super) fn as_written(text: &str) -> String {
    let text = &*folded(text);
    let after = match text.chars().next_back() {
        // A word stands between others there.
        Some(last) if is_unspaced(last) => String::new(),
        Some(last) if last.is_ascii_digit() => not_before(None) + "(?![.,][0-9])",
        last => not_before(last.filter(|last| is_sign(*last))),
    };
    beginning(text) + &after
}

/// Finds words that begin with a text.
pub(super) fn beginning(text: &str) -> String {
    let text = &*folded(text);
    let before = match text.chars().next() {
        Some(first) if is_unspaced(first) => String::new(),
        Some(first) if first.is_ascii_digit() => not_after(None) + "(?<![0-9][.,])v?",
        first => not_after(first.filter(|first| is_sign(*first))),
    };
    let words: Vec<String> =
        text.split_whitespace().map(|word| word.chars().map(escaped).collect::<String>()).collect();
    before + &words.join("\\s+")
}

/// No letter, digit or `sign` follows, unless it is of a script without spaces.
fn not_before(sign: Option<char>) -> String {
    format!("(?:(?!{})|(?={}))", of_token(sign), bracket())
}

/// As [`not_before`], for what is before.
fn not_after(sign: Option<char>) -> String {
    format!("(?:(?<!{})|(?<={}))", of_token(sign), bracket())
}

/// The characters that continue a token.
fn of_token(sign: Option<char>) -> String {
    format!("[[:alnum:]_{}]", sign.map(escaped).unwrap_or_default())
}

fn is_sign(c: char) -> bool {
    c.is_ascii_punctuation() && c != '_'
}

fn escaped(c: char) -> String {
    if is_sign(c) { format!("\\{c}") } else { c.into() }
}

/// A text as `htm.folded` compares it.
pub(crate) fn folded(text: &str) -> String {
    let plain = |c: char| match c {
        '\u{ad}'
        | '\u{200d}'
        | '\u{2060}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}'
        | '\u{e0100}'..='\u{e01ef}' => None,
        '‘' | '’' => Some('\''),
        '“' | '”' | '„' => Some('"'),
        '\u{2010}' | '\u{2011}' | '\u{2212}' => Some('-'),
        '\u{a0}' | '\u{202f}' | '\u{3000}' => Some(' '),
        _ => Some(c),
    };
    let plain: String = text.chars().filter_map(plain).collect();
    let is_wide = |c: char| matches!(c, '\u{fb00}'..='\u{fb06}' | '\u{ff01}'..='\u{ffdc}');
    if plain.contains(is_wide) { plain.nfkc().collect() } else { plain.nfc().collect() }
}
