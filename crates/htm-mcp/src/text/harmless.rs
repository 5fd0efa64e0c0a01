//! Makes stored text harmless: control characters drive terminals, and invisible or reordering characters hide text from
//! the people who read over a model's shoulder.

use std::fmt::Write as _;

use serde_json::Value;

/// `text` without control characters (line breaks and tabs stay). Each character that reorders or hides text becomes a
/// visible escape, such as `\u{202e}`.
pub fn plain(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut before = None;
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            '\n' | '\t' => shown.push(character),
            _ if character.is_control() => {}
            _ if is_joiner(character) && joins(before, rest.peek().copied()) => shown.push(character),
            _ if is_deceptive(character) => {
                // Writing to a String cannot fail.
                let _ = write!(shown, "{}", character.escape_unicode());
            }
            _ => shown.push(character),
        }
        before = Some(character);
    }
    shown
}

/// A value whose strings are [`plain`].
pub(crate) fn plain_json(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(plain(&text)),
        Value::Array(items) => Value::Array(items.into_iter().map(plain_json).collect()),
        Value::Object(fields) => {
            Value::Object(fields.into_iter().map(|(name, value)| (plain(&name), plain_json(value))).collect())
        }
        other => other,
    }
}

/// `text`, [`plain`], as a JSON string: one line that ends at its closing quote.
pub(crate) fn quoted(text: &str) -> String {
    Value::String(plain(text)).to_string()
}

/// Whether a character joins letters of Persian and Indic scripts, or the parts of an emoji.
fn is_joiner(character: char) -> bool {
    matches!(character, '\u{200c}' | '\u{200d}')
}

/// Whether a joiner is within a word or an emoji that is not ASCII.
fn joins(before: Option<char>, after: Option<char>) -> bool {
    let is_part =
        |it: Option<char>| it.is_some_and(|it| !it.is_ascii() && !is_deceptive(it) && !it.is_whitespace());
    is_part(before) && is_part(after)
}

/// Whether a character has no shape of its own and changes the look of others (Unicode's format characters, line
/// separators, fillers), see <https://www.unicode.org/reports/tr36/>.
pub fn is_deceptive(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_text_keeps_its_words_and_loses_its_power() {
        for (text, shown) in [
            ("a\u{1b}[31mred\u{7}", "\"a[31mred\""),
            ("one\ntwo\t\"three\"", "\"one\\ntwo\\t\\\"three\\\"\""),
            ("pay \u{202e}001", "\"pay \\\\u{202e}001\""),
            ("two\u{2028}lines\u{85}", "\"two\\\\u{2028}lines\""),
            ("می\u{200c}خواهم", "\"می\u{200c}خواهم\""),
        ] {
            assert_eq!(quoted(text), shown);
        }
    }

    #[test]
    fn values_are_plain_at_every_level() {
        let value = serde_json::json!({ "a\u{7}": ["b\u{1b}", { "c": "d\u{202e}" }], "e": 1 });
        assert_eq!(plain_json(value), serde_json::json!({ "a": ["b", { "c": "d\\u{202e}" }], "e": 1 }));
    }
}
