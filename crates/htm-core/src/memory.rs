//! What an application hands over to be remembered.

use chrono::{DateTime, Utc};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::tag::TagPath;

/// The most bytes that a node's text may have.
pub const MAX_CONTENT_BYTES: usize = 1024 * 1024;
/// The most tags that may be given with a node.
pub(crate) const MAX_TAGS: usize = 1_000;
pub(crate) const MAX_NAME_BYTES: usize = 128;
const MAX_KEY_BYTES: usize = 512;

/// A text and what is known about it. Only the text is needed.
///
/// ```
/// use htm_core::Memory;
/// let memory = Memory::new("We chose PostgreSQL 17.2 for the ledger.")
///     .robot("architect")
///     .importance(8.0)
///     .tag("database:postgresql".parse().unwrap());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Memory {
    /// The text: 1 byte to 1 MiB, not only white space.
    pub content: String,
    /// Where it belongs; none is the handle's namespace.
    pub namespace: Option<String>,
    /// Who remembers; none is the handle's robot.
    pub robot: Option<String>,
    /// A name for the node, unique in its namespace.
    pub key: Option<String>,
    /// 1.0 to 10.0; 1–3 is transient, 7–10 a decision or a preference.
    pub importance: f32,
    /// Where it comes from: a file, a chat, a URL.
    pub source: Option<String>,
    /// What it is: `fact`, `decision`, `question`, …
    pub kind: Option<String>,
    /// Who said it.
    pub speaker: Option<String>,
    /// The conversation that it was said in.
    pub session: Option<String>,
    /// Its place in the conversation.
    pub seq: Option<i32>,
    /// Tags given by hand; the tag-worker adds its own.
    pub tags: Vec<TagPath>,
    /// Anything else, as a JSON object.
    pub metadata: Map<String, Value>,
    /// When it happened; none is the database's now.
    pub at: Option<DateTime<Utc>>,
    /// The text search configuration that stems it; none is the handle's.
    pub language: Option<String>,
}

impl Memory {
    /// A memory of `content` with defaults for the rest.
    pub fn new(content: impl Into<String>) -> Self {
        Self {
            content: content.into(),
            namespace: None,
            robot: None,
            key: None,
            importance: 1.0,
            source: None,
            kind: None,
            speaker: None,
            session: None,
            seq: None,
            tags: Vec::new(),
            metadata: Map::new(),
            at: None,
            language: None,
        }
    }

    /// Sets the namespace.
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = Some(namespace.into());
        self
    }

    /// Sets the robot that remembers.
    pub fn robot(mut self, robot: impl Into<String>) -> Self {
        self.robot = Some(robot.into());
        self
    }

    /// Sets the key.
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// Sets the importance, 1 to 10.
    pub fn importance(mut self, importance: f32) -> Self {
        self.importance = importance;
        self
    }

    /// Sets where it comes from.
    pub fn source(mut self, source: impl Into<String>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Adds a tag.
    pub fn tag(mut self, tag: TagPath) -> Self {
        self.tags.push(tag);
        self
    }

    /// Sets when it happened.
    pub fn at(mut self, at: DateTime<Utc>) -> Self {
        self.at = Some(at);
        self
    }

    /// Adds an entry to the metadata.
    pub fn metadata(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.metadata.insert(name.into(), value.into());
        self
    }

    /// SHA-256 of the text.
    pub fn content_hash(&self) -> [u8; 32] {
        Sha256::digest(self.content.as_bytes()).into()
    }

    /// Refuses what the database would refuse, with an error that says more.
    ///
    /// # Errors
    /// The codes `content_empty`, `content_too_large`, `nul_byte`, `importance_out_of_range`,
    /// `namespace_invalid`, `robot_invalid`, `key_invalid`, `too_many_tags`.
    pub fn validate(&self) -> Result<()> {
        if self.content.len() > MAX_CONTENT_BYTES {
            return Err(Error::ContentTooLarge { bytes: self.content.len(), limit: MAX_CONTENT_BYTES });
        }
        refuse_nul("content", &self.content)?;
        if self.content.trim().is_empty() {
            return Err(Error::ContentEmpty);
        }
        if !(1.0..=10.0).contains(&self.importance) {
            return Err(Error::ImportanceOutOfRange { value: self.importance });
        }
        if self.tags.len() > MAX_TAGS {
            return Err(Error::TooManyTags { count: self.tags.len(), limit: MAX_TAGS });
        }
        if let Some(at) = self.at {
            validate_time(at)?;
        }
        for (field, name, limit) in [
            ("namespace", &self.namespace, MAX_NAME_BYTES),
            ("robot", &self.robot, MAX_NAME_BYTES),
            ("key", &self.key, MAX_KEY_BYTES),
        ] {
            if let Some(name) = name {
                validate_name(field, name, limit)?;
            }
        }
        for (field, text) in [
            ("source", &self.source),
            ("kind", &self.kind),
            ("speaker", &self.speaker),
            ("session", &self.session),
            ("language", &self.language),
        ] {
            if let Some(text) = text {
                refuse_nul(field, text)?;
            }
        }
        refuse_nul_in_json(&self.metadata)
    }
}

/// Namespaces and robots are names of 1 to 128 bytes, keys of 1 to 512, without control characters.
pub(crate) fn validate_name(field: &'static str, name: &str, limit: usize) -> Result<()> {
    let broken = |rule| Err(Error::NameInvalid { field, value: name.chars().take(80).collect(), rule });
    if name.trim().is_empty() {
        return broken("it is empty");
    }
    if name.len() > limit {
        return broken(if limit == MAX_KEY_BYTES {
            "it is longer than 512 bytes"
        } else {
            "it is longer than 128 bytes"
        });
    }
    refuse_nul(field, name)?;
    if name.chars().any(char::is_control) {
        return broken("it has a control character");
    }
    Ok(())
}

/// PostgreSQL's timestamps start in 4713 BC; they end later than chrono's.
pub(crate) fn validate_time(at: DateTime<Utc>) -> Result<()> {
    use chrono::Datelike;
    if at.year() < -4_711 { Err(Error::TimeOutOfRange { value: at }) } else { Ok(()) }
}

fn refuse_nul(field: &'static str, text: &str) -> Result<()> {
    match text.bytes().position(|byte| byte == 0) {
        Some(position) => Err(Error::NulByte { field, position }),
        None => Ok(()),
    }
}

/// `\u0000` in JSON is what `jsonb` refuses.
pub(crate) fn refuse_nul_in_json(object: &Map<String, Value>) -> Result<()> {
    fn walk(value: &Value) -> Result<()> {
        match value {
            Value::String(text) => refuse_nul("metadata", text),
            Value::Array(values) => values.iter().try_for_each(walk),
            Value::Object(object) => refuse_nul_in_json(object),
            _ => Ok(()),
        }
    }
    object.iter().try_for_each(|(name, value)| refuse_nul("metadata", name).and_then(|()| walk(value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(memory: Memory) -> &'static str {
        memory.validate().unwrap_err().code()
    }

    #[test]
    fn bad_input_has_a_code_each() {
        assert_eq!(code(Memory::new("")), "content_empty");
        assert_eq!(code(Memory::new(" \n\t\u{a0}")), "content_empty");
        assert_eq!(code(Memory::new("x".repeat(MAX_CONTENT_BYTES + 1))), "content_too_large");
        assert_eq!(code(Memory::new("a\0b")), "nul_byte");
        assert_eq!(code(Memory::new("a").metadata("k", "a\0")), "nul_byte");
        for importance in [0.99, 10.01, f32::NAN, f32::INFINITY, -1.0] {
            assert_eq!(code(Memory::new("a").importance(importance)), "importance_out_of_range");
        }
        assert_eq!(code(Memory::new("a").at(DateTime::<Utc>::MIN_UTC)), "time_out_of_range");
        assert_eq!(code(Memory::new("a").namespace("")), "namespace_invalid");
        assert_eq!(code(Memory::new("a").robot("x".repeat(129))), "robot_invalid");
        assert_eq!(code(Memory::new("a").key("x".repeat(513))), "key_invalid");
        assert_eq!(code(Memory::new("a").key("a\nb")), "key_invalid");
    }

    #[test]
    fn the_largest_is_accepted() {
        Memory::new("x".repeat(MAX_CONTENT_BYTES)).importance(10.0).key("x".repeat(512)).validate().unwrap();
    }
}
