//! The checks of the lines of an export, before the database sees them. The names of fields are those of the lines.

use std::fmt::Display;
use std::ops::RangeInclusive;

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::lines::*;
use super::{FORMAT, VERSION};
use crate::model::documents::validate_path;
use crate::model::error::{Error, Result, codes};
use crate::model::expiry::LONGEST;
use crate::model::id::NodeId;
use crate::model::memory::{
    MAX_KEY_BYTES, MAX_NAME_BYTES, MAX_SOURCE_BYTES, Memory, content_hash, refuse_nul, validate_content,
    validate_metadata, validate_name, validate_namespace, validate_text, validate_time,
};
use crate::model::ontology::change::check_description;
use crate::model::ontology::names::Meaning;
use crate::model::relations;
use crate::model::tags::TagPath;
use crate::model::vectors::LARGEST;

/// The most bytes of a model's name, of a prompt's version and of an outcome.
const MAX_WORD_BYTES: usize = 512;
/// The most dimensions of a vector.
const MAX_DIMENSIONS: usize = 4_000;
/// A number that the next one is made from by adding 1. It leaves room for as many as there may be.
const NUMBERED: RangeInclusive<i64> = 1..=1_000_000_000;
/// The most of a count. Further ones are added to it, and the counts of a memory to one another.
const MOST_COUNTED: i64 = 1_000_000_000_000;

fn invalid(what: impl Display) -> Error {
    Error::new(codes::LINE_INVALID, what.to_string())
}

fn least(field: &str, value: i64, least: i64) -> Result<()> {
    match value >= least {
        true => Ok(()),
        false => Err(invalid(format!("{field} is {value}, less than {least}"))),
    }
}

fn within(field: &str, value: i64, range: RangeInclusive<i64>) -> Result<()> {
    match range.contains(&value) {
        true => Ok(()),
        false => {
            let (least, most) = range.into_inner();
            Err(invalid(format!("{field} is {value}, outside {least} to {most}")))
        }
    }
}

fn words<'a>(words: impl IntoIterator<Item = &'a str>) -> Result<()> {
    words.into_iter().try_for_each(|word| validate_text("model, version or outcome", word, MAX_WORD_BYTES))
}

fn times(times: impl IntoIterator<Item = DateTime<Utc>>) -> Result<()> {
    times.into_iter().try_for_each(validate_time)
}

fn robot(name: &str) -> Result<()> {
    validate_name("robot", name, MAX_NAME_BYTES)
}

impl SavedRelation {
    pub(crate) fn check(&self) -> Result<()> {
        validate_namespace(&self.ns)?;
        robot(&self.robot)?;
        times([self.made_at])?;
        relations::validate(NodeId(self.from), self.relation, NodeId(self.to), self.reason.as_deref())
    }
}

impl Header {
    /// `export_version` for another format or a later version.
    pub(crate) fn check(&self) -> Result<()> {
        if self.format == FORMAT && (1..=VERSION).contains(&self.version) {
            return Ok(());
        }
        let (format, version) = (&self.format, self.version);
        let message = format!(
            "the file is `{format}` version {version}, and this program reads `{FORMAT}` up to version {VERSION}"
        );
        Err(Error::new(codes::EXPORT_VERSION, message))
    }
}

impl SavedModel {
    pub(crate) fn check(&self) -> Result<()> {
        words([self.label.as_str(), &self.provider, &self.name])?;
        match self.dimensions {
            1..=MAX_DIMENSIONS => Ok(()),
            dimensions => Err(invalid(format!("dimensions is {dimensions}, outside 1 to {MAX_DIMENSIONS}"))),
        }
    }
}

impl SavedRobot {
    pub(crate) fn check(&self) -> Result<()> {
        validate_namespace(&self.ns)?;
        robot(&self.name)?;
        validate_metadata(&self.metadata)?;
        least("max_tokens", self.max_tokens.unwrap_or(1), 1)?;
        times([self.created_at].into_iter().chain(self.last_active))
    }
}

impl SavedGroup {
    pub(crate) fn check(&self) -> Result<()> {
        validate_namespace(&self.ns)?;
        validate_name("group", &self.name, MAX_NAME_BYTES)?;
        least("max_tokens", self.max_tokens, 1)?;
        if self.closed_at.is_some() && !self.members.is_empty() {
            return Err(invalid("a closed group has members"));
        }
        self.members.iter().try_for_each(|it| robot(&it.robot))?;
        times(
            [self.created_at]
                .into_iter()
                .chain(self.closed_at)
                .chain(self.members.iter().map(|it| it.joined_at)),
        )
    }
}

impl SavedDocument {
    /// The digest, if the line is valid.
    pub(crate) fn check(&self) -> Result<Option<Vec<u8>>> {
        validate_namespace(&self.ns)?;
        validate_path(&self.path)?;
        self.title.as_deref().map_or(Ok(()), |title| validate_text("title", title, MAX_SOURCE_BYTES))?;
        least("bytes", self.bytes, 0)?;
        least("passages", self.passages.into(), 1)?;
        times([self.loaded_at, self.changed_at])?;
        self.digest.as_deref().map(|text| digest("digest", text).map(Vec::from)).transpose()
    }
}

/// The 32 bytes of a digest in hex.
fn digest(field: &str, text: &str) -> Result<[u8; 32]> {
    let mut bytes = [0; 32];
    hex::decode_to_slice(text, &mut bytes)
        .map_err(|_| invalid(format_args!("{field} is not 64 hexadecimal digits")))?;
    Ok(bytes)
}

impl SavedBudget {
    pub(crate) fn check(&self) -> Result<()> {
        validate_namespace(&self.ns)?;
        least("tokens_per_day", self.tokens_per_day, 0)
    }
}

impl SavedLimits {
    pub(crate) fn check(&self) -> Result<()> {
        words([self.model.as_str()])?;
        let limits = [
            ("requests_per_minute", self.requests_per_minute),
            ("tokens_per_minute", self.tokens_per_minute),
            ("concurrent_calls", self.concurrent_calls),
        ];
        limits.into_iter().try_for_each(|(field, limit)| least(field, limit.unwrap_or(1).into(), 1))
    }
}

impl SavedTag {
    pub(crate) fn check(&self) -> Result<()> {
        times(self.created_at)
    }
}

impl SavedRanking {
    pub(crate) fn check(&self) -> Result<()> {
        validate_namespace(&self.ns)?;
        within("version", self.version.into(), NUMBERED)?;
        refuse_nul("reason", &self.reason)?;
        times([self.made_at])
    }
}

impl SavedChange {
    pub(crate) fn check(&self) -> Result<()> {
        fn nul_free(value: &Value) -> Result<()> {
            match value {
                Value::String(text) => refuse_nul("details", text),
                Value::Array(values) => values.iter().try_for_each(nul_free),
                Value::Object(object) => object
                    .iter()
                    .try_for_each(|(name, value)| refuse_nul("details", name).and_then(|()| nul_free(value))),
                _ => Ok(()),
            }
        }
        validate_namespace(&self.ns)?;
        self.made_by.as_deref().map_or(Ok(()), |by| validate_text("made_by", by, MAX_WORD_BYTES))?;
        self.details
            .iter()
            .try_for_each(|(name, value)| refuse_nul("details", name).and_then(|()| nul_free(value)))?;
        least("nodes", self.nodes, 0)?;
        if self.reverts.is_some_and(|it| it >= self.change) {
            return Err(invalid(format!("change {} reverts a later one", self.change)));
        }
        times([self.made_at])
    }
}

impl SavedName {
    pub(crate) fn check(&self) -> Result<()> {
        validate_namespace(&self.ns)?;
        let path = |text: &String| text.parse::<TagPath>().map(drop).map_err(invalid);
        for meaning in self.before.iter().chain(&self.after) {
            match meaning {
                Meaning::Synonym(tag) => path(tag)?,
                Meaning::Tag(tag) => {
                    check_description(self.name.as_str(), tag.description.as_deref())?;
                    tag.split_into.iter().chain(&tag.distinct_from).try_for_each(path)?;
                }
            }
        }
        Ok(())
    }
}

impl SavedMemory {
    pub(crate) fn check(&self) -> Result<()> {
        let memory = Memory {
            namespace: Some(self.ns.clone()),
            robot: Some(self.robot.clone()),
            key: self.id.clone(),
            importance: self.importance,
            source: self.source.clone(),
            kind: self.kind.clone(),
            speaker: self.speaker.clone(),
            session: self.session.clone(),
            seq: self.seq,
            metadata: self.metadata.clone(),
            at: Some(self.created_at),
            language: Some(self.language.clone()),
            ..Memory::new(self.text.clone())
        };
        memory.validate()?;
        within("revision", self.revision.into(), NUMBERED)?;
        least("ttl_seconds", self.ttl_seconds.unwrap_or(1), 1)?;
        if self.ttl_seconds.is_some_and(|ttl| self.expires_at.is_none() || ttl > LONGEST.as_secs() as i64) {
            return Err(invalid("ttl_seconds is longer than a century, or without expires_at"));
        }
        if self.forgotten_because.is_some() && self.forgotten_at.is_none() {
            return Err(invalid("forgotten_because is without forgotten_at"));
        }
        self.first_hash()?;
        self.author.as_deref().map_or(Ok(()), robot)?;
        let own = [self.remembered_at, self.updated_at];
        times(own.into_iter().chain(self.expires_at).chain(self.forgotten_at))?;
        self.check_parts()
    }

    fn check_parts(&self) -> Result<()> {
        for it in self.tags.iter().chain(self.retagged.iter().map(|it| &it.assignment)) {
            words(it.model.iter().chain(&it.prompt_version).map(String::as_str))?;
            times([it.at])?;
            if it.confidence.is_some_and(|confidence| !(0.0..=1.0).contains(&confidence)) {
                return Err(invalid(format!("the confidence of tag `{}` is outside 0 to 1", it.tag)));
            }
        }
        times(self.absences.iter().flat_map(|it| [it.forgotten_at, it.restored_at]))?;
        for it in &self.repeats {
            robot(&it.robot)?;
            within("count", it.count, 1..=MOST_COUNTED)?;
            times([it.first_at, it.last_at])?;
        }
        if let Some(it) = &self.recalled {
            within("count", it.count, 1..=MOST_COUNTED)?;
            times([it.last_at])?;
        }
        for it in &self.tagged {
            words([it.model.as_str(), &it.version, &it.outcome])?;
            times([it.at])?;
        }
        for it in &self.in_memory_of {
            validate_namespace(&it.ns)?;
            robot(&it.robot)?;
            within("accesses", it.accesses, 0..=MOST_COUNTED)?;
            times([it.added_at, it.accessed_at])?;
        }
        for it in &self.in_groups {
            validate_name("group", &it.group, MAX_NAME_BYTES)?;
            it.robot.as_deref().map_or(Ok(()), robot)?;
            within("accesses", it.accesses, 0..=MOST_COUNTED)?;
            times([it.added_at, it.accessed_at])?;
        }
        for it in &self.vectors {
            words([it.model.as_str(), &it.outcome])?;
            times([it.at])?;
            if !it.vector.is_empty() && it.vector.iter().all(|x| *x == 0.0) {
                return Err(invalid(format!("the vector of `{}` has length zero", it.model)));
            }
            if !it.vector.iter().all(|x| x.abs() <= LARGEST) {
                return Err(invalid(format!(
                    "a number of the vector of `{}` is outside ±{LARGEST}",
                    it.model
                )));
            }
        }
        Ok(())
    }

    /// The SHA-256 of its first text.
    pub(crate) fn first_hash(&self) -> Result<[u8; 32]> {
        match &self.first_sha256 {
            Some(text) => digest("first_sha256", text),
            None => Ok(content_hash(&self.text)),
        }
    }
}

impl SavedRevision {
    pub(crate) fn check(&self) -> Result<()> {
        validate_content(&self.text)?;
        validate_text("author", &self.author, MAX_KEY_BYTES)?;
        within("revision", self.revision.into(), NUMBERED)?;
        times([self.written_at])
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const AT: &str = "2026-03-01T09:00:00Z";

    /// Checks the line of a memory with these numbers.
    fn checked(revision: i32, count: i64, recalls: i64, accesses: i64, of_group: i64) -> Result<()> {
        let line = json!({
            "ns": "default", "text": "a text", "robot": "ada", "importance": 1.0, "node": 7, "language": "english",
            "created_at": AT, "remembered_at": AT, "updated_at": AT, "revision": revision,
            "repeats": [{ "robot": "ada", "count": count, "first_at": AT, "last_at": AT }],
            "recalled": { "count": recalls, "last_at": AT },
            "in_memory_of": [
                { "ns": "default", "robot": "ada", "added_at": AT, "accessed_at": AT, "accesses": accesses }
            ],
            "in_groups": [{ "group": "team", "added_at": AT, "accessed_at": AT, "accesses": of_group }],
        });
        serde_json::from_value::<SavedMemory>(line).unwrap().check()
    }

    #[test]
    fn a_number_that_is_added_to_leaves_room() {
        checked(1_000_000_000, MOST_COUNTED, MOST_COUNTED, MOST_COUNTED, 0).unwrap();
        for (checked, field) in [
            (checked(i32::MAX, 1, 1, 0, 0), "revision is 2147483647, outside 1 to 1000000000"),
            (checked(1, i64::MAX, 1, 0, 0), "count is 9223372036854775807, outside 1 to 1000000000000"),
            (checked(1, 1, i64::MAX, 0, 0), "count is 9223372036854775807, outside 1 to 1000000000000"),
            (checked(1, 1, 1, i64::MAX, 0), "accesses is 9223372036854775807, outside 0 to 1000000000000"),
            (checked(1, 1, 1, 0, i64::MAX), "accesses is 9223372036854775807, outside 0 to 1000000000000"),
            (checked(0, 1, 1, 0, 0), "revision is 0, outside 1 to 1000000000"),
        ] {
            let error = checked.unwrap_err();
            assert!(error.is(codes::LINE_INVALID), "{error}");
            assert_eq!(error.to_string(), field);
        }
    }
}
