//! Regular expressions of PostgreSQL that find a text as written.

use super::script::is_unspaced;

/// Finds a text as written, in any case, and not within a larger token: `17.2` neither in `17.25` nor in `17.2.1`.
pub(super) fn as_written(text: &str) -> String {
    let after = match text.chars().next_back() {
        // A word stands between others there.
        Some(last) if is_unspaced(last) => String::new(),
        Some(last) if last.is_ascii_digit() => "(?![[:alnum:]_])(?![.,][0-9])".to_owned(),
        Some(last) if is_sign(last) => format!("(?![[:alnum:]_{}])", escaped(last)),
        _ => "(?![[:alnum:]_])".to_owned(),
    };
    beginning(text) + &after
}

/// Finds words that begin with a text.
pub(super) fn beginning(text: &str) -> String {
    let before = match text.chars().next() {
        Some(first) if is_unspaced(first) => String::new(),
        Some(first) if first.is_ascii_digit() => "(?<![[:alnum:]_])(?<![0-9][.,])v?".to_owned(),
        Some(first) if is_sign(first) => format!("(?<![[:alnum:]_{}])", escaped(first)),
        _ => "(?<![[:alnum:]_])".to_owned(),
    };
    let words: Vec<String> =
        text.split_whitespace().map(|word| word.chars().map(escaped).collect::<String>()).collect();
    before + &words.join("\\s+")
}

fn is_sign(c: char) -> bool {
    c.is_ascii_punctuation() && c != '_'
}

fn escaped(c: char) -> String {
    if is_sign(c) { format!("\\{c}") } else { c.to_string() }
}
