//! A memory as a line of JSON Lines, the format of imports.

use std::collections::BTreeMap;
use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::Deserialize;
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
    created_at: Option<DateTime<Utc>>,
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

impl Memory {
    /// Reads a memory from a line: an object with the fields `id` (its key), `ns` (its namespace), `text`, `created_at`,
    /// `expires_at` or `ttl_seconds`, `speaker`, `session`, `seq`, `tags`, `metadata`, `robot`, `importance`, `source`,
    /// `type` and `vectors`, of which the first three are required. None for a blank line.
    ///
    /// # Errors
    /// `line_invalid`, or `tag_invalid`.
    pub fn from_line(line: &[u8], rules: &TagRules) -> Result<Option<Self>> {
        let invalid = |what: String| Error::new(codes::LINE_INVALID, what);
        let text = std::str::from_utf8(line).map_err(|_| invalid("it is not UTF-8".into()))?;
        if text.trim().is_empty() {
            return Ok(None);
        }
        let line: Line = serde_json::from_str(text).map_err(|error| invalid(error.to_string()))?;
        let tags = line.tags.iter().map(|tag| Ok(rules.normalise(tag)?)).collect::<Result<Vec<TagPath>>>()?;
        let session = match line.session {
            None | Some(Value::Null) => None,
            Some(Value::String(name)) => Some(name),
            Some(Value::Number(number)) => Some(number.to_string()),
            Some(_) => return Err(invalid("session is neither a name nor a number".into())),
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
    }
}
