//! The lines of an import that a foreign memory becomes.

use chrono::{DateTime, Utc};
use htm_core::{Memory, TagPath, TagRules, namespace_of};
use serde::Serialize;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::foreign::{Foreign, Model, Recalls, Repeat};
use crate::system::System;

/// The destination of the memories.
#[derive(Clone, Debug)]
pub struct Target {
    /// The system that they are of.
    pub system: System,
    /// The namespace of the import. That of a memory with an owner is below it.
    pub namespace: String,
    /// The robot of memories without one.
    pub robot: String,
    /// The text search configuration.
    pub language: String,
    /// The spelling of tags.
    pub rules: TagRules,
    /// The label of the model whose vectors are taken; none: vectors are left out, and workers make new ones.
    pub vectors: Option<String>,
}

/// The lines of one memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lines {
    /// The namespace.
    pub namespace: String,
    /// The key.
    pub key: String,
    /// The memory, and after it its former texts.
    pub lines: Vec<Vec<u8>>,
    /// Whether the memory brings its vector.
    pub has_vector: bool,
}

/// A line with the fields of a memory of an export, or with those of a plain line.
#[derive(Serialize)]
struct Line<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    id: &'a str,
    ns: &'a str,
    text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    created_at: Option<DateTime<Utc>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<DateTime<Utc>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    speaker: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seq: Option<i32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tags: Vec<Value>,
    metadata: &'a Map<String, Value>,
    robot: &'a str,
    importance: f32,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'a str>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    its_kind: Option<&'a str>,
    #[serde(flatten)]
    saved: Option<Saved<'a>>,
}

/// The further fields of a memory of an export.
#[derive(Serialize)]
struct Saved<'a> {
    node: i64,
    language: &'a str,
    remembered_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
    revision: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    ttl_seconds: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_sha256: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    related: bool,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    repeats: &'a [Repeat],
    #[serde(skip_serializing_if = "Option::is_none")]
    recalled: Option<Recalls>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    vectors: Vec<Value>,
}

/// The line that registers the model of vectors, before the first memory that brings one.
pub fn model_line(label: &str, model: &Model) -> Vec<u8> {
    let Model { provider, name, dimensions } = model;
    let line = json!({"kind": "model", "label": label, "provider": provider, "name": name, "dimensions": dimensions});
    line.to_string().into_bytes()
}

/// The line that says that a memory contradicts another one, by their numbers in the import and after both.
pub fn contradiction_line(
    namespace: &str,
    robot: &str,
    (from, to): (i64, i64),
    made_at: DateTime<Utc>,
) -> Vec<u8> {
    let line = json!({"kind": "relation", "ns": namespace, "from": from, "relation": "contradicts", "to": to,
                      "robot": robot, "made_at": made_at});
    line.to_string().into_bytes()
}

impl Foreign {
    /// The lines of the memory. `number` is its place in the import, which ties its former texts to it.
    ///
    /// # Errors
    /// The refusals of [`Memory::validate`].
    pub fn lines(&self, target: &Target, number: i64) -> htm_core::Result<Lines> {
        let owner = self.owner.iter().map(String::as_str);
        let namespace = match self.owner.is_empty() {
            true => target.namespace.clone(),
            false => format!("{}/{}", target.namespace, namespace_of(owner)?),
        };
        let made = || format!("{}:{}", target.system.name(), self.id);
        let key = self.key.clone().unwrap_or_else(made);
        let mut metadata = self.metadata.clone();
        let tags = spelled(&self.tags, &target.rules, &mut metadata);
        let robot = self.robot.as_deref().unwrap_or(&target.robot);
        let importance = self.importance.unwrap_or(1.0);
        let mut memory = Memory::new(self.text.as_str()).namespace(&namespace).robot(robot).key(&key);
        memory = memory.importance(importance);
        memory.at = self.at;
        memory.tags.clone_from(&tags);
        (memory.source, memory.kind) = (self.source.clone(), self.kind.clone());
        (memory.speaker, memory.session) = (self.speaker.clone(), self.session.clone());
        memory.metadata.clone_from(&metadata);
        memory.validate()?;
        let vector = target.vectors.as_deref().zip(self.vector.as_ref());
        // A line of an export needs a time, which also identifies it.
        let saved_at = self.at.filter(|_| vector.is_some() || self.is_of_an_export());
        let written = |at: DateTime<Utc>| self.updated_at.map_or(at, |updated| updated.max(at));
        let saved = saved_at.map(|at| Saved {
            node: number,
            language: &target.language,
            remembered_at: self.remembered_at.map_or(at, |remembered| remembered.max(at)),
            updated_at: written(at),
            revision: self.former.len() + 1,
            ttl_seconds: self.ttl_seconds,
            related: self.is_related,
            repeats: &self.repeats,
            recalled: self.recalled,
            first_sha256: self.former.first().map(|first| sha256(&first.text)),
            vectors: vector
                .iter()
                .map(|(label, vector)| json!({"model": label, "outcome": "done", "at": written(at), "vector": vector}))
                .collect(),
        });
        let tag = |tag: &TagPath| match saved_at {
            Some(at) => json!({"tag": tag, "origin": "manual", "at": at}),
            None => json!(tag),
        };
        let line = Line {
            kind: saved_at.map(|_| "memory"),
            id: &key,
            ns: &namespace,
            text: &self.text,
            created_at: self.at,
            expires_at: self.expires_at,
            speaker: self.speaker.as_deref(),
            session: self.session.as_deref(),
            seq: self.seq,
            tags: tags.iter().map(tag).collect(),
            metadata: &metadata,
            robot,
            importance,
            source: self.source.as_deref(),
            its_kind: self.kind.as_deref(),
            saved,
        };
        let mut lines = vec![serde_json::to_vec(&line).unwrap_or_default()];
        if saved_at.is_some() {
            for (place, former) in self.former.iter().enumerate() {
                let line = json!({"kind": "revision", "node": number, "revision": place + 1, "text": former.text,
                                  "author": robot, "written_at": former.at});
                lines.push(line.to_string().into_bytes());
            }
        }
        Ok(Lines { namespace, key, lines, has_vector: saved_at.is_some() && vector.is_some() })
    }
}

impl Foreign {
    /// Whether it has what only a line of an export can say.
    fn is_of_an_export(&self) -> bool {
        let is_plain = self.former.is_empty() && self.repeats.is_empty() && self.recalled.is_none();
        let is_dated = self.updated_at.is_some() || self.remembered_at.is_some();
        !is_plain || is_dated || self.ttl_seconds.is_some() || self.is_related
    }
}

/// The tags in HTM's spelling. Those that it has none for, or no room, go to the metadata, under `other_tags`.
fn spelled(tags: &[String], rules: &TagRules, metadata: &mut Map<String, Value>) -> Vec<TagPath> {
    let mut known: Vec<TagPath> = Vec::new();
    let mut others = Vec::new();
    // A tag counts with its parents.
    let mut room = rules.limits.memory;
    for tag in tags {
        match rules.normalise(tag.trim_start_matches('#')) {
            Ok(tag) if known.contains(&tag) => {}
            Ok(tag) if tag.levels().count() <= room => {
                room -= tag.levels().count();
                known.push(tag);
            }
            _ => others.push(json!(tag)),
        }
    }
    if !others.is_empty() {
        metadata.insert("other_tags".into(), Value::Array(others));
    }
    known
}

/// The SHA-256 of a text, in hex.
pub(crate) fn sha256(text: &str) -> String {
    hex::encode(Sha256::digest(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target() -> Target {
        Target {
            system: System::ChatGpt,
            namespace: "old/chats".into(),
            robot: "importer".into(),
            language: "english".into(),
            rules: TagRules::default(),
            vectors: Some("openai/small".into()),
        }
    }

    fn read(line: &[u8]) -> Value {
        serde_json::from_slice(line).unwrap()
    }

    #[test]
    fn a_plain_memory_is_a_plain_line() {
        let foreign = Foreign {
            id: "7".into(),
            text: "Mara prefers tabs.".into(),
            owner: vec!["a/b".into(), "50%".into()],
            tags: vec!["#Editors".into(), "C++".into(), "editor".into()],
            ..Foreign::default()
        };
        let lines = foreign.lines(&target(), 1).unwrap();
        assert_eq!((lines.namespace.as_str(), lines.key.as_str()), ("old/chats/a%2Fb/50%25", "chatgpt:7"));
        assert_eq!(lines.lines.len(), 1);
        let memory = Memory::from_line(&lines.lines[0], &TagRules::default()).unwrap().unwrap();
        assert_eq!(memory.tags.iter().map(TagPath::as_str).collect::<Vec<_>>(), ["editor"]);
        assert_eq!(memory.metadata["other_tags"], json!(["C++"]));
        assert_eq!(memory.robot.as_deref(), Some("importer"));
        // A vector or a former text needs a time.
        let foreign = Foreign { vector: Some(vec![0.5]), ..foreign };
        assert!(!foreign.lines(&target(), 1).unwrap().has_vector);
    }

    #[test]
    fn former_texts_and_a_vector_make_it_a_line_of_an_export() {
        let at: DateTime<Utc> = "2025-06-01T10:00:00Z".parse().unwrap();
        let former = |text: &str| crate::Former { text: text.into(), at };
        let foreign = Foreign {
            id: "7".into(),
            text: "Mara prefers spaces.".into(),
            at: Some(at),
            tags: vec!["editors".into()],
            former: vec![former("Mara prefers tabs."), former("Mara is undecided.")],
            vector: Some(vec![0.5, 1.0]),
            ..Foreign::default()
        };
        let lines = foreign.lines(&target(), 4).unwrap();
        let [memory, first, second] = &lines.lines[..] else { panic!("{lines:?}") };
        let memory = read(memory);
        assert_eq!(
            (&memory["kind"], &memory["revision"], &memory["node"]),
            (&json!("memory"), &json!(3), &json!(4))
        );
        assert_eq!(memory["vectors"][0]["model"], "openai/small");
        assert_eq!(memory["first_sha256"], sha256("Mara prefers tabs."));
        assert_eq!(memory["tags"][0]["tag"], "editor");
        assert_eq!((&read(first)["revision"], &read(second)["revision"]), (&json!(1), &json!(2)));
        assert!(lines.has_vector);
        let without = foreign.lines(&Target { vectors: None, ..target() }, 4).unwrap();
        assert!(!without.has_vector && read(&without.lines[0]).get("vectors").is_none());
    }

    #[test]
    fn the_time_of_its_text_makes_it_a_line_of_an_export() {
        let at = |day: &str| Some(format!("2025-06-{day}T10:00:00Z").parse().unwrap());
        let text = "Mara prefers tabs.".into();
        let foreign =
            Foreign { id: "7".into(), text, at: at("01"), updated_at: at("02"), ..Foreign::default() };
        let line = read(&foreign.lines(&target(), 1).unwrap().lines[0]);
        assert_eq!((&line["kind"], &line["revision"]), (&json!("memory"), &json!(1)));
        assert_eq!(
            (&line["remembered_at"], &line["updated_at"]),
            (&json!("2025-06-01T10:00:00Z"), &json!("2025-06-02T10:00:00Z"))
        );
    }

    #[test]
    fn what_htm_cannot_hold_is_refused_with_its_code() {
        let refused = |foreign: Foreign| foreign.lines(&target(), 1).unwrap_err().code();
        let memory = || Foreign { id: "7".into(), text: "t".into(), ..Foreign::default() };
        assert_eq!(refused(Foreign { text: " ".into(), ..memory() }), "content_empty");
        assert_eq!(refused(Foreign { text: "x".repeat(2 << 20), ..memory() }), "content_too_large");
        assert_eq!(refused(Foreign { owner: vec![" ".into()], ..memory() }), "namespace_invalid");
        assert_eq!(refused(Foreign { id: "x".repeat(600), ..memory() }), "key_invalid");
        assert_eq!(refused(Foreign { robot: Some(String::new()), ..memory() }), "robot_invalid");
    }
}
