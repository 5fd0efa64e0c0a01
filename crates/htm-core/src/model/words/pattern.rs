//! Regular expressions of PostgreSQL that find a text as written, in a text that `htm.folded` gives.

use unicode_normalization::UnicodeNormalization;

use super::alike::alike;
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
    match c {
        // The capital of `ı` too. `ı` itself stands for `I` already, and never for `i`.
        'I' => "[Iı]".into(),
        _ if is_sign(c) => format!("\\{c}"),
        _ => c.into(),
    }
}

/// Whether it is a mark of direction, which is typed and pasted with Hebrew and Arabic and never seen.
pub(super) fn is_direction(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
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
        _ if is_direction(c) => None,
        '‘' | '’' => Some('\''),
        '“' | '”' | '„' => Some('"'),
        '\u{2010}' | '\u{2011}' | '\u{2212}' | '\u{fe63}' | '\u{ff0d}' => Some('-'),
        '\u{a0}' | '\u{202f}' | '\u{3000}' => Some(' '),
        _ => Some(c),
    };
    let plain: String = text.chars().filter_map(plain).collect();
    let is_wide = |c: char| matches!(c, '\u{fb00}'..='\u{fb06}' | '\u{ff01}'..='\u{ffdc}');
    let composed: String =
        if plain.contains(is_wide) { plain.nfkc().collect() } else { plain.nfc().collect() };
    alike(&composed)
}

/// A text as lexemes have it before they are stemmed.
pub(super) fn lowered(text: &str) -> String {
    // Letter by letter: the last `Σ` of a word would be `ς`.
    folded(text).chars().flat_map(char::to_lowercase).map(|c| if c == 'ı' { 'i' } else { c }).collect()
}

/// The spellings of a lexeme whose stemmer may leave out accents: all of them, the French one the last, the Spanish one all
/// but that of `ñ`. Of Arabic also without the article. At most 16.
pub(super) fn spellings(lowered: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    for c in lowered.chars() {
        let bare: String = std::iter::once(c).nfd().filter(|c| !is_accent(*c)).nfc().collect();
        let is_bare = bare.chars().eq([c]) || all.len() >= 8;
        let bared: Vec<String> = match is_bare {
            true => Vec::new(),
            false => all.iter().map(|spelling| spelling.clone() + &bare).collect(),
        };
        all.iter_mut().for_each(|spelling| spelling.push(c));
        all.extend(bared);
    }
    let articles = all.iter().filter_map(|spelling| spelling.strip_prefix("ال"));
    let without: Vec<String> =
        articles.filter(|rest| rest.chars().nth(1).is_some()).map(str::to_owned).collect();
    all.extend(without);
    all
}

/// Whether it is an accent of Latin, Greek or Cyrillic, or a hamza.
fn is_accent(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{653}'..='\u{655}')
}
