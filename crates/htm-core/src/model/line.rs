//! A memory as a line of JSON Lines, the format of imports.

use std::collections::BTreeMap;
use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::model::error::{Error, Result, codes};
use crate::model::expiry::Expiry;
use crate::model::memory::Memory;
use crate::model::tags::{TagPath, TagRules};

/// The most bytes of a line. A text of 1 MiB has at most 6 MiB as JSON (`\u0001`), and the rest of a memory is limited
/// too.
pub const MAX_LINE_BYTES: usize = 8 << 20;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    id: String,
    ns: String,
    text: String,
    #[serde(default, deserialize_with = "time")]
    created_at: Option<DateTime<Utc>>,
    #[serde(default, deserialize_with = "time")]
    expires_at: Option<DateTime<Utc>>,
    /// Instead of `expires_at`: seconds from now to the expiry.
    ttl_seconds: Option<u64>,
    speaker: Option<String>,
    /// A name or a number.
    session: Option<Value>,
    seq: Option<i32>,
    #[serde(default)]
    tags: Vec<String>,
    #[serde(default)]
    metadata: Map<String, Value>,
    robot: Option<String>,
    importance: Option<f32>,
    source: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    vectors: BTreeMap<String, Vec<f32>>,
}

/// Reads a time. Its error says how one is written.
fn time<'de, D: Deserializer<'de>>(from: D) -> Result<Option<DateTime<Utc>>, D::Error> {
    let Some(text) = Option::<String>::deserialize(from)? else { return Ok(None) };
    let unfit = |_| D::Error::custom("`created_at` and `expires_at` are times such as 2026-03-01T09:00:00Z");
    text.parse().map(Some).map_err(unfit)
}

/// The names of numbers in an error, and the words of people for them.
const EXPECTED: [(&str, &str); 3] = [
    ("expected f32", "expected a number"),
    ("expected i32", "expected a whole number"),
    ("expected u64", "expected a whole number"),
];

/// The most letters at the beginning of an error, and at its end.
const MOST_SAID: usize = 150;

/// Reads a line that is an object. The error begins with `column N: ` where the place in the line is known.
///
/// # Errors
/// `line_invalid`.
pub fn read_object<T: DeserializeOwned>(line: &[u8]) -> Result<T> {
    let invalid = |what: String| Error::new(codes::LINE_INVALID, what);
    let text = std::str::from_utf8(line).map_err(|_| invalid("it is not UTF-8".into()))?.trim_end();
    if !text.trim_start().starts_with('{') {
        return Err(invalid("a line is a JSON object, such as {\"id\": \"a\", \"text\": \"…\"}".into()));
    }
    serde_json::from_str(text).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        let said = unreadable(&error);
        let said = said.trim_end_matches(&format!(" at line {line} column {column}"));
        let what = match error.is_eof() {
            true => "the line is cut: it ends inside of its JSON object".to_owned(),
            false => EXPECTED.iter().fold(short(said), |said, (name, word)| said.replace(name, word)),
        };
        // The place of an error that has none is line 0.
        invalid(if line == 0 { what } else { format!("column {column}: {what}") })
    })
}

/// The reason why a text is not read as JSON, with its place. It does not quote a text that is no JSON.
pub fn unreadable(error: &serde_json::Error) -> String {
    match error.to_string() {
        // The library speaks of escapes, which people do not see.
        said if said.contains("hex escape") => format!(
            "a text has half of a surrogate pair (\\ud800 to \\udfff) at line {} column {}",
            error.line(),
            error.column()
        ),
        said => said,
    }
}

/// The beginning and the end of what is said: it may quote a whole value, and ends with what was expected.
fn short(said: &str) -> String {
    let place = |(at, _)| at;
    let start = said.char_indices().nth(MOST_SAID).map(place);
    let end = said.char_indices().nth_back(MOST_SAID - 1).map(place);
    match (start, end) {
        (Some(start), Some(end)) if start < end => format!("{}…{}", &said[..start], &said[end..]),
        _ => said.to_owned(),
    }
}

impl Memory {
    /// Reads a memory from a line: an object with the fields `id` (its key), `ns` (its namespace), `text`, `created_at`,
    /// `expires_at` or `ttl_seconds`, `speaker`, `session`, `seq`, `tags`, `metadata`, `robot`, `importance`, `source`,
    /// `type` and `vectors`, of which the first three are required. None for a blank line.
    ///
    /// # Errors
    /// `line_invalid`, or `tag_invalid`.
    pub fn from_line(line: &[u8], rules: &TagRules) -> Result<Option<Self>> {
        if std::str::from_utf8(line).is_ok_and(|text| text.trim().is_empty()) {
            return Ok(None);
        }
        let line: Line = read_object(line)?;
        let tags = line.tags.iter().map(|tag| Ok(rules.normalise(tag)?)).collect::<Result<Vec<TagPath>>>()?;
        let session = match line.session {
            None | Some(Value::Null) => None,
            Some(Value::String(name)) => Some(name),
            Some(Value::Number(number)) => Some(number.to_string()),
            Some(_) => {
                return Err(Error::new(codes::LINE_INVALID, "session is neither a name nor a number"));
            }
        };
        let memory = Memory::new(line.text);
        Ok(Some(Memory {
            namespace: Some(line.ns),
            robot: line.robot,
            key: Some(line.id),
            importance: line.importance.unwrap_or(memory.importance),
            source: line.source,
            kind: line.kind,
            speaker: line.speaker,
            session,
            seq: line.seq,
            tags,
            metadata: line.metadata,
            vectors: line.vectors,
            at: line.created_at,
            expires: match (line.ttl_seconds, line.expires_at) {
                (Some(seconds), _) => Some(Expiry::After(Duration::from_secs(seconds))),
                (None, at) => at.map(Expiry::At),
            },
            ..memory
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_whole_or_refused_with_a_reason() {
        let rules = TagRules::default();
        let memory = Memory::from_line(
            br#"{"id":"a","ns":"n","text":"t","session":3,"seq":4,"tags":["x:y"],"metadata":{"k":1}}"#,
            &rules,
        );
        let memory = memory.unwrap().unwrap();
        assert_eq!(
            (memory.key.as_deref(), memory.session.as_deref(), memory.seq),
            (Some("a"), Some("3"), Some(4))
        );
        assert_eq!(Memory::from_line(b" \n", &rules).unwrap(), None);
        for (line, code) in [
            (&b"not json"[..], "line_invalid"),
            (b"\xff", "line_invalid"),
            (br#"{"id":"a","ns":"n"}"#, "line_invalid"),
            (br#"{"id":"a","ns":"n","text":"t","tags":["c++"]}"#, "tag_invalid"),
            (br#"{"id":"a","ns":"n","text":"t","created_at":"yesterday"}"#, "line_invalid"),
            (br#"{"id":"a","ns":"n","text":"t","importance":"high"}"#, "line_invalid"),
            (br#"{"id":"a","ns":"n","text":"t","type":7}"#, "line_invalid"),
            (br#"{"id":"a","ns":"n","text":"t","metdata":{}}"#, "line_invalid"),
        ] {
            assert_eq!(Memory::from_line(line, &rules).unwrap_err().code(), code);
        }
        for half in ["\\ud83d", "\\udc00", "\\ud83d\\u0041"] {
            let line = format!(r#"{{"id":"a","ns":"n","text":"{half}"}}"#);
            let error = Memory::from_line(line.as_bytes(), &rules).unwrap_err().to_string();
            assert!(error.contains(": a text has half of a surrogate pair (\\ud800 to \\udfff)"), "{error}");
            assert!(!error.contains("at line"), "{error}");
        }
    }

    #[test]
    fn a_refusal_quotes_no_long_value_whole() {
        let line = format!(r#"{{"id":"a","ns":"n","text":"t","seq":"{}"}}"#, "ß".repeat(1 << 20));
        let error = Memory::from_line(line.as_bytes(), &TagRules::default()).unwrap_err().to_string();
        assert!(
            error.len() < 1_000 && error.contains("\"ßß") && error.ends_with("expected a whole number"),
            "{error}"
        );
    }

    #[test]
    fn a_refusal_is_in_the_words_of_people() {
        let times = "`created_at` and `expires_at` are times such as 2026-03-01T09:00:00Z";
        let object = r#"a line is a JSON object, such as {"id": "a", "text": "…"}"#;
        let cut = "the line is cut: it ends inside of its JSON object";
        for (line, said) in [
            (r#"[]"#, object.to_owned()),
            (r#""text""#, object.into()),
            ("id,text", object.into()),
            (r#"{"created_at":"2026-03-01","id":"a"}"#, format!("column 26: {times}")),
            (r#"{"expires_at":"yesterday","id":"a"}"#, format!("column 25: {times}")),
            (
                r#"{"importance":"high","id":"a"}"#,
                "column 20: invalid type: string \"high\", expected a number".into(),
            ),
            (r#"{"id":"a","te"#, format!("column 13: {cut}")),
            ("{\"id\":\"a\",\"te\r\n", format!("column 13: {cut}")),
            (r#"{"id":"a","ns":"n"}"#, "column 19: missing field `text`".into()),
            (r#"{"id":"a" "ns":"n"}"#, "column 11: expected `,` or `}`".into()),
        ] {
            let refused = Memory::from_line(line.as_bytes(), &TagRules::default()).unwrap_err();
            assert_eq!(refused.to_string(), said, "{line}");
        }
        let spelled = br#"{"id":"a","ns":"n","text":"t","created_at":"2026-03-01 09:00:00+01:00"}"#;
        let memory = Memory::from_line(spelled, &TagRules::default()).unwrap().unwrap();
        assert_eq!(memory.at.unwrap().to_rfc3339(), "2026-03-01T08:00:00+00:00");
    }
}
