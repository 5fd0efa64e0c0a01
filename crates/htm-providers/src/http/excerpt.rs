//! Excerpts of a provider's error messages, without the key and the texts of the request.

use serde_json::Value;

/// The most characters of an excerpt.
const MAX_CHARS: usize = 200;
/// A common run of this many bytes counts as a quotation of a text.
const QUOTED_BYTES: usize = 16;
/// A text shorter than this is not searched for: `a` is in every message.
const SHORT_BYTES: usize = 4;
const HIDDEN: &str = "…";

/// The message in an error's `body`, on one line, cut after 200 characters.
pub(crate) fn of(body: &[u8], key: &str, texts: &[String]) -> String {
    let text = String::from_utf8_lossy(&body[..body.len().min(64 << 10)]);
    let message =
        serde_json::from_str::<Value>(&text).ok().and_then(|json| stated(&json)).unwrap_or_else(|| {
            // The beginning of a proxy's HTML page says nothing.
            if text.trim_start().starts_with('<') { String::new() } else { text.into_owned() }
        });
    let mut message = message.split_whitespace().collect::<Vec<_>>().join(" ");
    if message.len() > 4 * MAX_CHARS {
        message = message.chars().take(2 * MAX_CHARS).collect();
    }
    if !key.is_empty() {
        message = message.replace(key, "***");
    }
    for text in texts {
        message = without(&message, &text.split_whitespace().collect::<Vec<_>>().join(" "));
    }
    if message.chars().count() > MAX_CHARS {
        message = message.chars().take(MAX_CHARS - 1).chain(['…']).collect();
    }
    message
}

/// OpenAI sends `{"error": {"message"}}`, Ollama `{"error": "…"}`, others `{"message"}` or `{"detail"}`.
fn stated(json: &Value) -> Option<String> {
    let error = &json["error"];
    [&error["message"], error, &json["message"], &json["detail"]]
        .into_iter()
        .find_map(Value::as_str)
        .map(str::to_owned)
}

/// `message` without quotations of `text`.
fn without(message: &str, text: &str) -> String {
    if text.len() >= SHORT_BYTES && message.contains(text) {
        return message.replace(text, HIDDEN);
    }
    if text.len() < QUOTED_BYTES {
        return message.to_owned();
    }
    let bytes = message.as_bytes();
    let mut quoted = vec![false; bytes.len()];
    let starts: std::collections::HashSet<&[u8]> = text.as_bytes().windows(QUOTED_BYTES).collect();
    for (at, run) in bytes.windows(QUOTED_BYTES).enumerate() {
        if starts.contains(run) {
            quoted[at..at + QUOTED_BYTES].fill(true);
        }
    }
    let mut kept = String::with_capacity(message.len());
    let mut hiding = false;
    for (at, character) in message.char_indices() {
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

    use super::*;

    #[test]
    fn finds_the_message_of_each_provider() {
        for body in [
            r#"{"error":{"message":"no such model"}}"#,
            r#"{"error":"no such model"}"#,
            "no  such\nmodel",
            r#"{"detail":"no such model"}"#,
        ] {
            assert_eq!(of(body.as_bytes(), "", &[]), "no such model");
        }
        assert_eq!(of(b"<html>nginx</html>", "", &[]), "");
        assert_eq!(of("é".repeat(500).as_bytes(), "", &[]).chars().count(), 200);
    }

    #[test]
    fn hides_the_key_and_the_texts() {
        let texts = ["my secret diary of the year 1999".to_owned(), "pin 1234".to_owned()];
        let body = r#"{"error":"bad key sk-abc for 'secret diary of the year' and pin 1234"}"#;
        assert_eq!(of(body.as_bytes(), "sk-abc", &texts), "bad key *** for '…' and …");
    }

    proptest! {
        #[test]
        fn no_long_quotation_survives(text in "\\PC{20,60}", before in "\\PC{0,30}", after in "\\PC{0,30}") {
            let body = serde_json::json!({ "error": format!("{before}{text}{after}") }).to_string();
            let said = of(body.as_bytes(), "", std::slice::from_ref(&text));
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            prop_assert!(text.len() < QUOTED_BYTES || !said.contains(&text));
            prop_assert!(said.chars().count() <= MAX_CHARS);
        }
    }
}
