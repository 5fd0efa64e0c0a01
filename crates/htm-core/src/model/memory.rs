//! The input of `remember`.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::model::error::{Error, Result, codes};
use crate::model::expiry::Expiry;
use crate::model::tags::{TagPath, too_many_tags};
use crate::model::vectors::validate_vector;

/// The most bytes of a node's text.
pub const MAX_CONTENT_BYTES: usize = 1024 * 1024;
/// The most tags of a memory.
pub(crate) const MAX_TAGS: usize = 1_000;
/// The most bytes of a robot, a kind or a language.
pub(crate) const MAX_NAME_BYTES: usize = 128;
/// The most bytes of a namespace, a key, a speaker or a conversation.
pub(crate) const MAX_KEY_BYTES: usize = 512;
/// The most bytes of a source. A file's path on Linux has at most 4,096 bytes, and many programs refuse longer URLs.
pub(crate) const MAX_SOURCE_BYTES: usize = 4_096;
/// The most bytes of the metadata, as JSON without white space. `htm.nodes` has a CHECK for each of these limits.
pub const MAX_METADATA_BYTES: usize = 64 * 1024;
/// The most levels of nested objects and lists in the metadata. PostgreSQL's stack ends at some thousands.
pub(crate) const MAX_METADATA_DEPTH: usize = 64;

/// A text with its attributes. Only the text is required. An empty source, kind, speaker, conversation or language is none.
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
    /// Its namespace, at most 512 bytes; none: the handle's.
    pub namespace: Option<String>,
    /// The robot that remembers, at most 128 bytes; none: the handle's.
    pub robot: Option<String>,
    /// Its key, unique in its namespace. At most 512 bytes, without control characters.
    pub key: Option<String>,
    /// Its importance, 1.0 to 10.0: 1–3 for transient facts, 7–10 for decisions and preferences.
    pub importance: f32,
    /// Its source: a file, a chat, a URL. At most 4,096 bytes.
    pub source: Option<String>,
    /// Its kind: `fact`, `decision`, `question`, … At most 128 bytes.
    pub kind: Option<String>,
    /// Its speaker. At most 512 bytes.
    pub speaker: Option<String>,
    /// Its conversation. At most 512 bytes.
    pub session: Option<String>,
    /// Its position in the conversation.
    pub seq: Option<i32>,
    /// Manual tags; the tag-worker adds its own.
    pub tags: Vec<TagPath>,
    /// Its metadata: a JSON object of at most [`MAX_METADATA_BYTES`], 64 levels deep.
    pub metadata: Map<String, Value>,
    /// When it happened; none: now, by the database's clock.
    pub at: Option<DateTime<Utc>>,
    /// When it expires; none: never.
    pub expires: Option<Expiry>,
    /// The text search configuration that stems it; none: the handle's.
    pub language: Option<String>,
    /// Its vectors, by the labels of models whose vectors callers bring.
    pub vectors: BTreeMap<String, Vec<f32>>,
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
            expires: None,
            language: None,
            vectors: BTreeMap::new(),
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

    /// Sets the source.
    pub fn source(mut self, source: impl Into<String>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Sets the kind.
    pub fn kind(mut self, kind: impl Into<String>) -> Self {
        self.kind = Some(kind.into());
        self
    }

    /// Sets the speaker.
    pub fn speaker(mut self, speaker: impl Into<String>) -> Self {
        self.speaker = Some(speaker.into());
        self
    }

    /// Sets the conversation.
    pub fn session(mut self, session: impl Into<String>) -> Self {
        self.session = Some(session.into());
        self
    }

    /// Sets the position in the conversation.
    pub fn seq(mut self, seq: i32) -> Self {
        self.seq = Some(seq);
        self
    }

    /// Sets the text search configuration.
    pub fn language(mut self, language: impl Into<String>) -> Self {
        self.language = Some(language.into());
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

    /// Sets when it expires.
    pub fn expires(mut self, expiry: Expiry) -> Self {
        self.expires = Some(expiry);
        self
    }

    /// Adds an entry to the metadata.
    pub fn metadata(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.metadata.insert(name.into(), value.into());
        self
    }

    /// Adds the vector of its text by a model whose vectors callers bring.
    pub fn vector(mut self, label: impl Into<String>, vector: Vec<f32>) -> Self {
        self.vectors.insert(label.into(), vector);
        self
    }

    /// SHA-256 of the text.
    pub fn content_hash(&self) -> [u8; 32] {
        content_hash(&self.content)
    }

    /// Whether the memory is identified by its text alone. A memory with a key, a time, a conversation or a speaker is
    /// an event of its own: "Thanks!" said twice are two events.
    pub fn is_plain(&self) -> bool {
        self.key.is_none()
            && self.at.is_none()
            && filled(&self.session).is_none()
            && self.seq.is_none()
            && filled(&self.speaker).is_none()
    }

    /// Checks for values that the database would reject, with a better error.
    ///
    /// # Errors
    /// The codes `content_empty`, `content_too_large`, `nul_byte`, `importance_out_of_range`,
    /// `namespace_invalid`, `robot_invalid`, `key_invalid`, `too_many_tags`, `field_too_long`, `metadata_too_deep`,
    /// `metadata_number_out_of_range`, `expiry_out_of_range`, `time_out_of_range`, `vector_unfit`.
    pub fn validate(&self) -> Result<()> {
        validate_content(&self.content)?;
        validate_importance(self.importance)?;
        if self.tags.len() > MAX_TAGS {
            return Err(too_many_tags(format_args!("{} tags", self.tags.len()), MAX_TAGS));
        }
        if let Some(at) = self.at {
            validate_time(at)?;
        }
        self.expires.map_or(Ok(()), validate_expiry)?;
        self.namespace.as_deref().map_or(Ok(()), validate_written_namespace)?;
        for (field, name, limit) in
            [("robot", &self.robot, MAX_NAME_BYTES), ("key", &self.key, MAX_KEY_BYTES)]
        {
            if let Some(name) = name {
                validate_name(field, name, limit)?;
            }
        }
        for (field, text, limit) in [
            ("source", &self.source, MAX_SOURCE_BYTES),
            ("type", &self.kind, MAX_NAME_BYTES),
            ("speaker", &self.speaker, MAX_KEY_BYTES),
            ("session", &self.session, MAX_KEY_BYTES),
            ("language", &self.language, MAX_NAME_BYTES),
        ] {
            if let Some(text) = text {
                validate_text(field, text, limit)?;
            }
        }
        self.vectors.iter().try_for_each(|(label, vector)| validate_vector(label, vector))?;
        validate_metadata(&self.metadata)
    }
}

/// A field of a memory. An empty text is none: programs send it for what they do not know.
pub(crate) fn filled(field: &Option<String>) -> Option<&str> {
    field.as_deref().filter(|text| !text.trim().is_empty())
}

pub(crate) fn content_hash(content: &str) -> [u8; 32] {
    Sha256::digest(content.as_bytes()).into()
}

pub(crate) fn validate_content(content: &str) -> Result<()> {
    if content.len() > MAX_CONTENT_BYTES {
        let bytes = content.len();
        let message =
            format!("the text has {bytes} bytes, more than the {MAX_CONTENT_BYTES} that a node may hold");
        return Err(Error::new(codes::CONTENT_TOO_LARGE, message));
    }
    refuse_nul("content", content)?;
    if content.trim().is_empty() { Err(content_empty()) } else { Ok(()) }
}

pub(crate) fn content_empty() -> Error {
    Error::new(codes::CONTENT_EMPTY, "the text is empty")
}

/// PostgreSQL has no text search configuration of this name.
pub(crate) fn language_unknown(name: &str) -> Error {
    let message = format!("`{name}` is not a text search configuration of this PostgreSQL");
    Error::new(codes::LANGUAGE_UNKNOWN, message)
}

pub(crate) fn validate_importance(value: f32) -> Result<()> {
    match (1.0..=10.0).contains(&value) {
        true => Ok(()),
        false => {
            Err(Error::new(codes::IMPORTANCE_OUT_OF_RANGE, format!("importance {value} is outside 1 to 10")))
        }
    }
}

/// Checks a name: 1 to 128 bytes for robots, 1 to 512 for keys and namespaces, without control characters.
pub(crate) fn validate_name(field: &'static str, name: &str, limit: usize) -> Result<()> {
    let broken = |rule| {
        let code = match field {
            "robot" => codes::ROBOT_INVALID,
            "group" => codes::GROUP_INVALID,
            "key" => codes::KEY_INVALID,
            _ => codes::NAMESPACE_INVALID,
        };
        let value: String = name.chars().take(80).collect();
        Err(Error::new(code, format!("{field} `{value}` is not valid: {rule}")))
    };
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

/// Checks a namespace: 1 to 512 bytes, no control characters, no empty label.
pub(crate) fn validate_namespace(namespace: &str) -> Result<()> {
    validate_name("namespace", namespace, MAX_KEY_BYTES)?;
    if namespace.split('/').any(|label| label.trim().is_empty()) {
        let value: String = namespace.chars().take(80).collect();
        let message = format!("namespace `{value}` is not valid: a label between two `/` is empty");
        return Err(Error::new(codes::NAMESPACE_INVALID, message));
    }
    Ok(())
}

/// Checks a namespace that is written to. With a last label `*`, it would be the pattern of a key or a quota.
pub(crate) fn validate_written_namespace(namespace: &str) -> Result<()> {
    validate_namespace(namespace)?;
    if namespace == "*" || namespace.ends_with("/*") {
        let value: String = namespace.chars().take(80).collect();
        let message = format!("namespace `{value}` is not valid: its last label `*` stands for any");
        return Err(Error::new(codes::NAMESPACE_INVALID, message)
            .with_hint("name one namespace: keys, quotas and lists alone take `*`"));
    }
    Ok(())
}

/// Checks a text: at most `limit` bytes, without a NUL byte.
pub(crate) fn validate_text(field: &'static str, text: &str, limit: usize) -> Result<()> {
    if text.len() > limit {
        return Err(too_long(field, text.len(), limit));
    }
    refuse_nul(field, text)
}

/// Refuses a condition that is an empty text.
pub(crate) fn refuse_blank(field: &'static str, text: &str) -> Result<()> {
    match text.trim().is_empty() {
        false => Ok(()),
        true => Err(Error::new(codes::CONTENT_EMPTY, format!("the {field} is empty"))
            .with_hint(format!("name a {field}, or leave it out"))),
    }
}

fn too_long(field: &str, bytes: usize, limit: usize) -> Error {
    let message = format!("{field} has {bytes} bytes, more than the {limit} that it may have");
    let error = Error::new(codes::FIELD_TOO_LONG, message);
    match field {
        "query" => error.with_hint("ask for what matters in it: a few sentences find more"),
        "metadata" => error.with_hint("keep large values elsewhere, and their place in the metadata"),
        _ => error,
    }
}

/// Checks a time. RFC 3339 has four digits for a year, and clients cannot read another one.
pub(crate) fn validate_time(at: DateTime<Utc>) -> Result<()> {
    use chrono::Datelike;
    // PostgreSQL stores a leap second as the second after it.
    let stored = DateTime::from_timestamp_micros(at.timestamp_micros());
    if stored.is_some_and(|stored| (1..=9_999).contains(&stored.year())) {
        return Ok(());
    }
    let message = format!("{at} is outside of the years 1 to 9999");
    Err(Error::new(codes::TIME_OUT_OF_RANGE, message))
}

/// A time from its microseconds since 1970, as a cursor has it; none if no memory may have it.
pub(crate) fn time_of_micros(text: &str) -> Option<DateTime<Utc>> {
    let time = DateTime::from_timestamp_micros(text.parse().ok()?)?;
    validate_time(time).ok()?;
    Some(time)
}

/// Checks an expiry: a time of the years 1 to 9999, or a time to live of 1 second to 100 years.
pub(crate) fn validate_expiry(expiry: Expiry) -> Result<()> {
    expiry.at().map_or(Ok(()), validate_time)?;
    expiry.validate_ttl()
}

pub(crate) fn refuse_nul(field: &'static str, text: &str) -> Result<()> {
    match text.bytes().position(|byte| byte == 0) {
        Some(at) => Err(Error::new(codes::NUL_BYTE, format!("{field} has a NUL byte at byte {at}"))),
        None => Ok(()),
    }
}

/// The largest number of the metadata. PostgreSQL returns a number with all its digits, and a number close to the largest
/// that a double can hold would then be too large to be read: with it, no answer that has the memory could be made.
const LARGEST_NUMBER: f64 = 1e308;

/// Rejects invalid `jsonb` and metadata beyond the limits.
pub(crate) fn validate_metadata(object: &Map<String, Value>) -> Result<()> {
    fn too_deep() -> Error {
        let message = format!("the metadata has more than {MAX_METADATA_DEPTH} levels of lists and objects");
        Error::new(codes::METADATA_TOO_DEEP, message)
    }
    fn walk_object(object: &Map<String, Value>, levels: usize) -> Result<()> {
        // Checked before the size: counting the bytes recurses too, and the stack is limited.
        let Some(levels) = levels.checked_sub(1) else {
            return Err(too_deep());
        };
        object
            .iter()
            .try_for_each(|(name, value)| refuse_nul("metadata", name).and_then(|()| walk(value, levels)))
    }
    fn walk(value: &Value, levels: usize) -> Result<()> {
        match value {
            Value::String(text) => refuse_nul("metadata", text),
            Value::Array(values) => match levels.checked_sub(1) {
                Some(levels) => values.iter().try_for_each(|value| walk(value, levels)),
                None => Err(too_deep()),
            },
            Value::Object(object) => walk_object(object, levels),
            Value::Number(number) => match number.as_f64() {
                Some(value) if value.abs() > LARGEST_NUMBER => {
                    let message = format!("the number {number} of the metadata is outside -1e308 to 1e308");
                    Err(Error::new(codes::METADATA_NUMBER, message))
                }
                _ => Ok(()),
            },
            _ => Ok(()),
        }
    }
    if object.is_empty() {
        return Ok(());
    }
    walk_object(object, MAX_METADATA_DEPTH)?;
    let mut written = Counter(0);
    // Cannot fail: the counter accepts everything, and the keys of JSON objects are strings.
    let _ = serde_json::to_writer(&mut written, object);
    match written.0 {
        bytes if bytes > MAX_METADATA_BYTES => Err(too_long("metadata", bytes, MAX_METADATA_BYTES)),
        _ => Ok(()),
    }
}

/// Counts the bytes that are written to it.
struct Counter(usize);

impl std::io::Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::tags::TagLimits;

    #[test]
    fn as_many_tags_are_taken_as_the_guide_promises() {
        assert_eq!(TagLimits::default().memory, MAX_TAGS);
        let guide = include_str!("../../../../docs/ontology.md");
        assert!(guide.contains("A memory brings at most 1,000 tags") && MAX_TAGS == 1_000);
        let tag: TagPath = "a".parse().unwrap();
        let many = (0..=MAX_TAGS).fold(Memory::new("text"), |memory, _| memory.tag(tag.clone()));
        let said = many.validate().unwrap_err().to_string();
        assert_eq!(said, "1001 tags are more than the 1000 that a node may be given at once");
    }

    #[test]
    fn a_cursor_is_a_time_that_a_memory_may_have() {
        assert_eq!(time_of_micros("-62135596800000000").unwrap().to_rfc3339(), "0001-01-01T00:00:00+00:00");
        for text in ["-300000000000000000", "99999999999999999999", "now", ""] {
            assert_eq!(time_of_micros(text), None, "{text}");
        }
    }

    #[test]
    fn a_time_is_of_the_years_1_to_9999() {
        let is_valid = |text: &str| validate_time(text.parse().unwrap()).is_ok();
        for time in ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z", "2016-12-31T23:59:60Z"] {
            assert!(is_valid(time), "{time}");
        }
        for time in [
            "0000-12-31T23:59:59Z",
            "0001-01-01T00:30:00+01:00",
            "-0001-06-01T00:00:00Z",
            "9999-12-31T23:30:00-05:00",
            "9999-12-31T23:59:60Z",
            "+262000-01-01T00:00:00Z",
        ] {
            assert!(!is_valid(time), "{time}");
        }
    }

    proptest::proptest! {
        #[test]
        fn every_accepted_time_has_four_digits_of_year(
            seconds in -70_000_000_000_i64..300_000_000_000,
            nanos in 0_u32..1_000_000_000,
        ) {
            let at = DateTime::from_timestamp(seconds, nanos).unwrap();
            let written = serde_json::to_string(&at).unwrap();
            let has_four = written.as_bytes()[1..5].iter().all(u8::is_ascii_digit) && written.as_bytes()[5] == b'-';
            proptest::prop_assert_eq!(validate_time(at).is_ok(), has_four && !written.starts_with("\"0000"));
        }
    }

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
        assert_eq!(code(Memory::new("a").metadata("k", f64::MAX)), "metadata_number_out_of_range");
        let nested = serde_json::json!([{"n": -1.7976931348623155e308}]);
        assert_eq!(code(Memory::new("a").metadata("k", nested)), "metadata_number_out_of_range");
        for importance in [0.99, 10.01, f32::NAN, f32::INFINITY, -1.0] {
            assert_eq!(code(Memory::new("a").importance(importance)), "importance_out_of_range");
        }
        assert_eq!(code(Memory::new("a").at(DateTime::<Utc>::MIN_UTC)), "time_out_of_range");
        let late = Expiry::At(DateTime::<Utc>::MAX_UTC);
        assert_eq!(code(Memory::new("a").expires(late)), "time_out_of_range");
        for namespace in ["", "/", "a//b", "/a", "a/", "a/ /b", "*", "a/*", &"a".repeat(513)] {
            assert_eq!(code(Memory::new("a").namespace(namespace)), "namespace_invalid", "{namespace:?}");
        }
        assert_eq!(code(Memory::new("a").robot("x".repeat(129))), "robot_invalid");
        assert_eq!(code(Memory::new("a").key("x".repeat(513))), "key_invalid");
        assert_eq!(code(Memory::new("a").key("a\nb")), "key_invalid");
        let of = |bytes| Some("x".repeat(bytes));
        for memory in [
            Memory { source: of(4_097), ..Memory::new("a") },
            Memory { kind: of(129), ..Memory::new("a") },
            Memory { speaker: of(513), ..Memory::new("a") },
            Memory { session: of(513), ..Memory::new("a") },
            Memory { language: of(129), ..Memory::new("a") },
            Memory::new("a").metadata("k", "x".repeat(MAX_METADATA_BYTES)),
        ] {
            assert_eq!(code(memory), "field_too_long");
        }
    }

    #[test]
    fn a_star_may_be_a_part_of_a_label() {
        for namespace in ["a*/b**", "a/*/b"] {
            Memory::new("a").namespace(namespace).validate().unwrap();
        }
    }

    #[test]
    fn an_empty_field_is_none() {
        let of = |text: &str| Some(text.to_owned());
        let memory = Memory { session: of(""), speaker: of(" "), kind: of(""), ..Memory::new("a") };
        memory.validate().unwrap();
        assert!(memory.is_plain());
        assert!(!Memory { session: of("s"), ..Memory::new("a") }.is_plain());
    }

    fn nested(levels: usize) -> Memory {
        let value = (0..levels).fold(Value::Null, |value, level| match level % 2 {
            0 => Value::Array(vec![value]),
            _ => Value::Object([("k".into(), value)].into_iter().collect()),
        });
        Memory::new("a").metadata("k", value)
    }

    #[test]
    fn metadata_is_at_most_64_levels_deep() {
        nested(63).validate().unwrap();
        assert_eq!(code(nested(64)), "metadata_too_deep");
        assert_eq!(code(nested(500)), "metadata_too_deep");
    }

    #[test]
    fn the_largest_is_accepted() {
        let of = |bytes| Some("x".repeat(bytes));
        // `{"k":""}` has 8 bytes.
        let metadata = "x".repeat(MAX_METADATA_BYTES - 8);
        let memory = Memory {
            source: of(4_096),
            kind: of(128),
            speaker: of(512),
            session: of(512),
            language: of(128),
            key: of(512),
            namespace: of(512),
            ..Memory::new("x".repeat(MAX_CONTENT_BYTES)).importance(10.0).metadata("k", metadata)
        };
        memory.validate().unwrap();
    }
}
