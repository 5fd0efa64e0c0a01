//! Makes stored text harmless for a terminal. The text is data, but a terminal would obey it: escape sequences control
//! the terminal, bidirectional marks change the order of words, and invisible characters hide text.

use std::fmt::Write as _;

/// `text` without control characters (line breaks and tabs stay). Each character that reorders or hides text becomes a
/// visible escape, such as `\u{202e}`.
pub(crate) fn plain(text: &str) -> String {
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

/// `json` with JSON escapes for these characters, so that a program reads the same text.
pub(crate) fn plain_json(json: &str) -> String {
    let mut shown = String::with_capacity(json.len());
    for character in json.chars() {
        // In JSON, only strings contain characters beyond ASCII.
        if !character.is_ascii() && (character.is_control() || is_deceptive(character))
            || character == '\u{7f}'
        {
            for unit in character.encode_utf16(&mut [0; 2]) {
                let _ = write!(shown, "\\u{unit:04x}");
            }
        } else {
            shown.push(character);
        }
    }
    shown
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
fn is_deceptive(character: char) -> bool {
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
    fn stored_text_can_neither_drive_the_terminal_nor_deceive_its_reader() {
        for (text, shown) in [
            ("a\u{1b}[31mred\u{7}", "a[31mred"),
            ("a\u{9b}31mred\u{9d}0;title\u{9c}", "a31mred0;title"),
            ("pay \u{202e}001\u{202c} now", "pay \\u{202e}001\\u{202c} now"),
            ("\u{2066}x\u{2069}\u{200f}", "\\u{2066}x\\u{2069}\\u{200f}"),
            ("pass\u{200b}word\u{feff}", "pass\\u{200b}word\\u{feff}"),
            ("ig\u{200d}nore", "ig\\u{200d}nore"),
            ("hidden\u{e0041}", "hidden\\u{e0041}"),
            ("two\u{2028}lines", "two\\u{2028}lines"),
            ("kept\n\tas it is: Ärger, 漢字, עברית", "kept\n\tas it is: Ärger, 漢字, עברית"),
            ("\u{1f468}\u{200d}\u{1f469} می\u{200c}خواهم", "\u{1f468}\u{200d}\u{1f469} می\u{200c}خواهم"),
        ] {
            assert_eq!(plain(text), shown);
        }
    }

    #[test]
    fn json_says_the_same_harmlessly() {
        let text = "a\u{9b}b\u{202e}c\u{e0041}d\u{7f}\"é";
        let json = plain_json(&serde_json::json!({ "a": text }).to_string());
        assert!(json.chars().all(|c| c.is_ascii_graphic() || c == 'é'), "{json}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&json).unwrap()["a"], text);
    }
}
