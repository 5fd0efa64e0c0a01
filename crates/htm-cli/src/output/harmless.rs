//! Makes stored text harmless for a terminal. The text is data, but a terminal would obey it: escape sequences control
//! the terminal, bidirectional marks change the order of words, and invisible characters hide text.

use std::fmt::Write as _;

use htm_mcp::is_deceptive;
pub(crate) use htm_mcp::plain;

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
