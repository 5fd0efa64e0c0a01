//! Excerpts of a provider's error messages, without the key and the texts of the request.

use std::collections::HashSet;

use serde_json::Value;

/// The most characters of an excerpt.
const MAX_CHARS: usize = 200;
/// The characters of a message in which texts are hidden. The reason may stand behind a long quotation.
const SEEN_CHARS: usize = 8 << 10;
/// A longer body has no excerpt: most of it repeats the request.
const MAX_BYTES: usize = 1 << 20;
/// A common run of this many bytes counts as a quotation of a text.
const QUOTED_BYTES: usize = 16;
/// A text shorter than this is not searched for: `a` is in every message.
const SHORT_BYTES: usize = 4;
const HIDDEN: &str = "…";

/// The message in an error's `body`, on one line, cut after 200 characters.
pub(crate) fn of(body: &[u8], key: &str, texts: &[String]) -> String {
    let text = String::from_utf8_lossy(if body.len() > MAX_BYTES { &[] } else { body });
    let message =
        serde_json::from_str::<Value>(&text).ok().and_then(|json| stated(&json)).unwrap_or_else(|| {
            // The beginning of a proxy's HTML page says nothing.
            if text.trim_start().starts_with('<') { String::new() } else { text.into_owned() }
        });
    let (mut message, key) = (plain(&message), plain(key));
    if !key.is_empty() {
        message = message.replace(&key, "***");
    }
    let message = without(&message, texts);
    match message.chars().count() > MAX_CHARS {
        true => message.chars().take(MAX_CHARS - 1).chain(['…']).collect(),
        false => message,
    }
}

/// OpenAI sends `{"error": {"message"}}`, Ollama `{"error": "…"}`, FastAPI `{"detail": [{"msg"}]}`, others `{"message"}`
/// or `{"detail"}`.
fn stated(json: &Value) -> Option<String> {
    let error = &json["error"];
    [&error["message"], error, &json["message"], &json["detail"], &json["detail"][0]["msg"]]
        .into_iter()
        .find_map(Value::as_str)
        .map(str::to_owned)
}

/// `text` on one line, without escapes. However often a text is escaped, as JSON within JSON is, it becomes the same:
/// `\n` and the like are what they stand for, and no backslash stays.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let (mut rest, mut escaped) = (text, false);
    while let Some(first) = rest.chars().next() {
        let escape = if escaped { unescaped(rest) } else { None };
        let (character, length) = escape.unwrap_or((first, first.len_utf8()));
        rest = &rest[length..];
        escaped = character == '\\';
        if !escaped {
            plain.push(character);
        }
    }
    let words = plain.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// The character of an escape, and its length in bytes. `text` begins after the backslash.
fn unescaped(text: &str) -> Option<(char, usize)> {
    match text.as_bytes().first()? {
        b'n' | b't' | b'r' | b'b' | b'f' => Some((' ', 1)),
        b'x' => char::from_u32(hex(&text[1..], 2)?.into()).map(|character| (character, 3)),
        b'u' => {
            let first = hex(&text[1..], 4)?;
            // A character beyond 16 bits has two escapes.
            let after = &text[5..];
            let second = after.trim_start_matches('\\');
            let low = second.strip_prefix('u').filter(|_| second.len() < after.len());
            let units = [first].into_iter().chain(low.and_then(|low| hex(low, 4)));
            Some(match char::decode_utf16(units).next()? {
                Ok(character) if character.len_utf16() == 1 => (character, 5),
                Ok(character) => (character, text.len() - second.len() + 5),
                Err(_) => (char::REPLACEMENT_CHARACTER, 5),
            })
        }
        _ => None,
    }
}

fn hex(text: &str, digits: usize) -> Option<u16> {
    let text = text.get(..digits).filter(|text| text.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    u16::from_str_radix(text, 16).ok()
}

/// The beginning of a plain `message` without quotations of `texts`.
fn without(message: &str, texts: &[String]) -> String {
    if message.is_empty() {
        return String::new();
    }
    let end = message.char_indices().nth(SEEN_CHARS).map_or(message.len(), |(at, _)| at);
    // A quotation that begins before the end is recognised, too.
    let seen = &message[..message.ceil_char_boundary((end + QUOTED_BYTES).min(message.len()))];
    let mut quoted = vec![false; seen.len()];
    let runs: HashSet<&[u8]> = seen.as_bytes().windows(QUOTED_BYTES).collect();
    let mut common: HashSet<&[u8]> = HashSet::new();
    for text in texts.iter().map(|text| plain(text)) {
        if text.len() >= QUOTED_BYTES {
            common.extend(text.as_bytes().windows(QUOTED_BYTES).filter_map(|run| runs.get(run)));
        } else if text.len() >= SHORT_BYTES {
            for (at, _) in seen.match_indices(&text) {
                quoted[at..at + text.len()].fill(true);
            }
        }
    }
    for (at, run) in seen.as_bytes().windows(QUOTED_BYTES).enumerate() {
        if common.contains(run) {
            quoted[at..at + QUOTED_BYTES].fill(true);
        }
    }
    let mut kept = String::with_capacity(end);
    let mut hiding = false;
    for (at, character) in message[..end].char_indices() {
        // A character is hidden if any of its bytes is quoted.
        let hide = quoted[at..at + character.len_utf8()].iter().any(|quoted| *quoted);
        match (hide, hiding) {
            (false, _) => kept.push(character),
            (true, false) => kept.push_str(HIDDEN),
            (true, true) => {}
        }
        hiding = hide;
    }
    kept
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn finds_the_message_of_each_provider() {
        for body in [
            r#"{"error":{"message":"no such model"}}"#,
            r#"{"error":"no such model"}"#,
            "no  such\nmodel",
            r#"{"detail":"no such model"}"#,
            r#"{"detail":[{"msg":"no such model","input":"a"}]}"#,
        ] {
            assert_eq!(of(body.as_bytes(), "", &[]), "no such model");
        }
        assert_eq!(of(b"<html>nginx</html>", "", &[]), "");
        assert_eq!(of("é".repeat(500).as_bytes(), "", &[]).chars().count(), 200);
        assert_eq!(of("é".repeat(MAX_BYTES).as_bytes(), "", &[]), "");
    }

    #[test]
    fn hides_the_key_and_the_texts() {
        let texts = ["my secret diary of the year 1999".to_owned(), "pin 1234".to_owned()];
        let body = r#"{"error":"bad key sk-abc for 'secret diary of the year' and pin 1234"}"#;
        assert_eq!(of(body.as_bytes(), "sk-abc", &texts), "bad key *** for '…' and …");
    }

    #[test]
    fn a_reason_behind_a_long_quotation_is_kept() {
        let texts = ["the diary of a long year ".repeat(40)];
        let body = json!({ "error": format!("'{}' is too long - 'input'", texts[0].trim()) }).to_string();
        assert_eq!(of(body.as_bytes(), "", &texts), "'…' is too long - 'input'");
    }

    #[test]
    fn a_text_is_known_in_each_writing() {
        for (text, same) in [
            ("a\nb", r"a\nb"),
            (r"a\nb", r"a\\\\nb"),
            (r#"a"\b"#, r#"a\"\\b"#),
            ("é🦀", r"\u00e9\\ud83e\\udd80"),
            ("é", r"\xe9"),
        ] {
            assert_eq!(plain(text), plain(same), "{text}");
        }
        assert_eq!(plain(r"\u+123 \ud83e \x \u"), "u+123 \u{fffd} x u");
        let texts = ["PIN 4711\nIBAN DE02\nBox 12".to_owned()];
        let said = of(json!({ "detail": [{ "input": texts }] }).to_string().as_bytes(), "", &texts);
        assert_eq!(said, r#"{"detail":[{"input":["…"]}]}"#);
    }

    #[test]
    fn a_cut_leaves_no_part_of_the_key_or_of_a_short_text() {
        let texts = ["pin 1234".to_owned(), "long ".repeat(SEEN_CHARS / 5 + 1)];
        for before in SEEN_CHARS - 5..=SEEN_CHARS {
            for secret in ["sk-abcdefgh", "pin 1234"] {
                let body = format!("{}{secret}{}", &texts[1][..before], "x".repeat(500));
                let said = of(body.as_bytes(), "sk-abcdefgh", &texts);
                assert!(!said.contains("sk") && !said.contains("pi"), "{before}: {said}");
            }
        }
    }

    /// `json` with all but ASCII escaped, as Python writes it.
    fn ascii(json: &Value) -> String {
        let escape = |c: char| -> String {
            c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect()
        };
        json.to_string().chars().map(|c| if c.is_ascii() { c.to_string() } else { escape(c) }).collect()
    }

    proptest! {
        #[test]
        fn no_quotation_survives(
            parts in prop::collection::vec(
                ("[A-Z0-9]{8}", prop::sample::select(vec![" ", "\n", "\t\r\n", "\"", "'", "\\", "é", "🦀\n"])),
                2..20,
            ),
            (from, count) in (0_usize..18, 2_usize..20),
            before in "[a-z ]{0,30}",
            after in "[a-z ]{0,30}",
            shape in 0..6,
        ) {
            let written = |parts: &[(String, &str)]| {
                parts.iter().flat_map(|(word, end)| [word.as_str(), *end]).collect::<String>()
            };
            let from = from.min(parts.len() - 2);
            let quotation = written(&parts[from..(from + count).min(parts.len())]);
            let message = format!("{before}{quotation}{after}");
            let body = match shape {
                0 => message,
                1 => json!({ "error": { "message": message } }).to_string(),
                2 => ascii(&json!({ "detail": [{ "input": [message] }] })),
                3 => json!({ "error": json!({ "text": message }).to_string() }).to_string(),
                4 => ascii(&json!({ "raw": ascii(&json!({ "raw": ascii(&json!(message)) })) })),
                _ => json!({ "error": message, "input": "x".repeat(100_000) }).to_string(),
            };
            let said = of(body.as_bytes(), "", &[written(&parts)]);
            prop_assert!(!said.contains(|c: char| c.is_ascii_uppercase() || c.is_ascii_digit()), "{}", said);
        }

        #[test]
        fn no_long_run_of_a_text_survives(text in "(\\PC|\n|\"|\\\\){0,60}", before in "\\PC{0,30}", after in "\\PC{0,30}") {
            let body = json!({ "error": format!("{before}{text}{after}") }).to_string();
            let said = of(body.as_bytes(), "", std::slice::from_ref(&text));
            let text = plain(&text);
            let runs: HashSet<&[u8]> = text.as_bytes().windows(QUOTED_BYTES).collect();
            for kept in said.split(HIDDEN) {
                prop_assert!(!kept.as_bytes().windows(QUOTED_BYTES).any(|run| runs.contains(run)), "{}", said);
            }
            prop_assert!(said.chars().count() <= MAX_CHARS);
        }
    }
}
