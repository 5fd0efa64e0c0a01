//! Documents: files whose text is remembered as passages.
//!
//! A passage is a node of the kind [`KIND`], whose conversation is the document's path and whose position is its place in
//! the document. Its key is derived from the path and the text, so that a passage keeps its node while its text stays.

use std::borrow::Cow;
use std::collections::HashMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::model::error::{Error, Result, codes};
use crate::model::id::NodeId;
use crate::model::memory::{MAX_KEY_BYTES, Memory, validate_time};
use crate::model::nodes::Node;
use crate::model::tags::TagPath;

/// The kind of the memories that are passages of documents.
pub(crate) const KIND: &str = "passage";
/// The most passages of a document.
pub const MAX_PASSAGES: usize = 20_000;
/// The most bytes of a passage's source: the path, and the heading as the anchor of a link.
const MAX_SOURCE: usize = 1_024;

/// The kind of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[derive(strum::Display, strum::AsRefStr, strum::EnumString)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum DocumentKind {
    /// Markdown.
    Markdown,
    /// Text without a format.
    Text,
    /// A page in HTML.
    Html,
    /// The text of a PDF.
    Pdf,
    /// Source code.
    Code,
}

/// A document to load: a path, and the passages of its text.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// The namespace; none: the handle's.
    pub namespace: Option<String>,
    /// Its path, as its user knows it: at most 512 bytes. It identifies the document in its namespace.
    pub path: String,
    /// Its kind.
    pub kind: DocumentKind,
    /// Its title.
    pub title: Option<String>,
    /// The bytes of the file.
    pub bytes: u64,
    /// A digest of the file and of how it was cut. A document with the same one is not written again.
    pub digest: [u8; 32],
    /// The tags of each passage.
    pub tags: Vec<TagPath>,
    /// When it was written; none: when each passage was first loaded, by the database's clock.
    pub at: Option<DateTime<Utc>>,
    /// Its passages, in its order: at most [`MAX_PASSAGES`].
    pub passages: Vec<DocumentPassage>,
}

/// A passage of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentPassage {
    /// The text to remember.
    pub content: String,
    /// The headings above it, the outermost first.
    pub heading: Vec<String>,
    /// The number of its first line in the document, from 1.
    pub line: u32,
    /// The page that it is on, from 1.
    pub page: Option<u32>,
    /// The place of its first byte in the document's text.
    pub start: u64,
    /// The place behind its last byte.
    pub end: u64,
}

/// The result of loading a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LoadedDocument {
    /// The path.
    pub path: String,
    /// The outcome.
    pub outcome: LoadOutcome,
    /// The passages that it has now.
    pub passages: u64,
    /// Those of them that were written.
    pub written: u64,
    /// Those of them that it had before. They keep their nodes, their vectors and their tags.
    pub kept: u64,
    /// The passages that were forgotten.
    pub forgotten: u64,
}

/// The outcome of loading a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, strum::Display)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum LoadOutcome {
    /// It is new.
    Loaded,
    /// It had another text, or was cut in another way.
    Changed,
    /// It is as it was. Nothing was written.
    Unchanged,
}

/// A loaded document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DocumentInfo {
    /// Its namespace.
    pub namespace: String,
    /// Its path.
    pub path: String,
    /// Its kind.
    pub kind: DocumentKind,
    /// Its title.
    pub title: Option<String>,
    /// The bytes of the file.
    pub bytes: u64,
    /// Its passages that are not forgotten.
    pub passages: u64,
    /// The tags that its front matter and its loader gave its passages.
    pub tags: Vec<TagPath>,
    /// When it was first loaded.
    pub loaded_at: DateTime<Utc>,
    /// When it last changed.
    pub changed_at: DateTime<Utc>,
}

/// The result of unloading documents.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UnloadedDocuments {
    /// The paths of the documents.
    pub documents: Vec<String>,
    /// Their passages that were forgotten.
    pub forgotten: u64,
}

/// A passage that a document has in the memory.
pub(crate) struct Known {
    pub(crate) node: NodeId,
    /// Whether it was forgotten when the document was unloaded.
    pub(crate) is_unloaded: bool,
    pub(crate) key: Option<String>,
    pub(crate) seq: Option<i32>,
    pub(crate) source: Option<String>,
    pub(crate) metadata: Value,
    /// When it happened.
    pub(crate) at: DateTime<Utc>,
    pub(crate) remembered_at: DateTime<Utc>,
}

/// The changes that turn the passages of a document into others.
#[derive(Default)]
pub(crate) struct LoadPlan {
    /// New passages.
    pub(crate) written: Vec<Memory>,
    /// Those that stay, and those of them that are at another place or of another time.
    pub(crate) kept: Vec<NodeId>,
    pub(crate) moved: Vec<Moved>,
    /// Those that stay and were forgotten when the document was unloaded.
    pub(crate) restored: Vec<NodeId>,
    /// Those that the document does not have any more.
    pub(crate) gone: Vec<NodeId>,
}

/// A passage at another place, below another heading, or of another time.
pub(crate) struct Moved {
    pub(crate) node: NodeId,
    pub(crate) seq: i32,
    pub(crate) source: String,
    pub(crate) metadata: Value,
    /// Its time, if it is another one.
    pub(crate) at: Option<DateTime<Utc>>,
}

impl Document {
    /// Checks the path, the time and the number of passages. Their texts are checked when they are remembered.
    pub(crate) fn validate(&self) -> Result<()> {
        validate_path(&self.path)?;
        self.at.map_or(Ok(()), validate_time)?;
        if i64::try_from(self.bytes).is_err() {
            let (path, bytes) = (one(&self.path), self.bytes);
            let message = format!("document `{path}` has {bytes} bytes, more than a file can have");
            return Err(Error::new(codes::DOCUMENT_SIZE, message).with_hint("give the bytes of its file"));
        }
        if self.passages.is_empty() || self.passages.len() > MAX_PASSAGES {
            let message = format!(
                "document `{}` has {} passages, and a document has 1 to {MAX_PASSAGES}",
                one(&self.path),
                self.passages.len()
            );
            return Err(Error::new(codes::DOCUMENT_SIZE, message));
        }
        Ok(())
    }

    /// Compares the document with the passages that are in the memory.
    pub(crate) fn plan(&self, namespace: &str, robot: &str, known: Vec<Known>) -> LoadPlan {
        let mut by_key: HashMap<String, Known> = HashMap::new();
        let mut plan = LoadPlan::default();
        for known in known {
            match &known.key {
                Some(key) if !by_key.contains_key(key) => drop(by_key.insert(key.clone(), known)),
                _ if known.is_unloaded => {}
                _ => plan.gone.push(known.node),
            }
        }
        let mut alike: HashMap<&str, u32> = HashMap::new();
        for (passage, seq) in self.passages.iter().zip(0_i32..) {
            let number = alike.entry(passage.content.as_str()).or_default();
            let key = key(&self.path, &passage.content, *number);
            *number += 1;
            let (source, metadata) = (self.source(passage), self.metadata(passage));
            match by_key.remove(&key) {
                Some(known) => {
                    plan.kept.push(known.node);
                    if known.is_unloaded {
                        plan.restored.push(known.node);
                    }
                    // Without a date, a passage is of the time at which it was first loaded.
                    let at = self.at.unwrap_or(known.remembered_at);
                    // PostgreSQL keeps microseconds.
                    let at = (at.timestamp_micros() != known.at.timestamp_micros()).then_some(at);
                    let is_same = at.is_none()
                        && known.seq == Some(seq)
                        && known.source.as_deref() == Some(&source)
                        && known.metadata == Value::Object(metadata.clone());
                    if !is_same {
                        let (node, metadata) = (known.node, metadata.into());
                        plan.moved.push(Moved { node, seq, source, metadata, at });
                    }
                }
                None => plan.written.push(Memory {
                    namespace: Some(namespace.to_owned()),
                    robot: Some(robot.to_owned()),
                    key: Some(key),
                    kind: Some(KIND.to_owned()),
                    session: Some(self.path.clone()),
                    seq: Some(seq),
                    source: Some(source),
                    tags: self.tags.clone(),
                    metadata,
                    at: self.at,
                    ..Memory::new(passage.content.clone())
                }),
            }
        }
        plan.gone.extend(by_key.into_values().filter(|known| !known.is_unloaded).map(|known| known.node));
        plan.gone.sort_unstable();
        plan
    }

    /// The path, with the innermost heading as the anchor of a link, as most sites make it, or the page.
    fn source(&self, passage: &DocumentPassage) -> String {
        let mut source = self.path.clone();
        if let Some(page) = passage.page {
            source.push_str(&format!("#page={page}"));
        } else if let Some(heading) = passage.heading.last().filter(|_| self.kind != DocumentKind::Code) {
            let keep = |c: &char| c.is_alphanumeric() || " -_".contains(*c);
            let heading = heading.to_lowercase();
            let anchor = heading.chars().filter(keep).map(|c| if c == ' ' { '-' } else { c });
            let room = MAX_SOURCE.saturating_sub(source.len() + 1) / 4;
            source.push('#');
            source.extend(anchor.take(room));
        } else {
            source.push_str(&format!("#L{}", passage.line));
        }
        source
    }

    fn metadata(&self, passage: &DocumentPassage) -> Map<String, Value> {
        let mut fields = Map::new();
        if let Some(title) = &self.title {
            fields.insert("title".into(), title.as_str().into());
        }
        if !passage.heading.is_empty() {
            fields.insert("heading".into(), passage.heading.clone().into());
        }
        fields.insert("line".into(), passage.line.into());
        if let Some(page) = passage.page {
            fields.insert("page".into(), page.into());
        }
        fields.insert("bytes".into(), vec![passage.start, passage.end].into());
        fields
    }
}

/// The key of a passage: a digest of its document's path, its text, and how often the text stands before it there.
fn key(path: &str, content: &str, number: u32) -> String {
    let mut digest = Sha256::new();
    for part in [path.as_bytes(), &[0], content.as_bytes(), &[0], number.to_string().as_bytes()] {
        digest.update(part);
    }
    format!("{KIND}:{}", hex::encode(&digest.finalize()[..16]))
}

/// Checks a document's path: 1 to 512 bytes, without control characters.
pub(crate) fn validate_path(path: &str) -> Result<()> {
    let broken = |rule: &str| {
        Err(Error::new(codes::DOCUMENT_PATH_INVALID, format!("path `{}` is not valid: {rule}", one(path))))
    };
    if path.trim().is_empty() {
        return broken("it is empty");
    }
    if path.len() > MAX_KEY_BYTES {
        return broken("it is longer than 512 bytes");
    }
    if path.chars().any(char::is_control) {
        return broken("it has a control character");
    }
    Ok(())
}

/// The path of a document without `.`, empty parts and an end of `/`, so that every caller means the same document by it. An
/// address keeps its `//`, and `..` stays: the directory before it may be a link. `.` alone is the current directory.
pub fn normal_path(path: &str) -> Cow<'_, str> {
    let is_part = |part: &&str| !part.is_empty() && *part != ".";
    if path.is_empty() || path == "." || path.contains("://") {
        return path.into();
    }
    let parts: Vec<&str> = path.split('/').filter(is_part).collect();
    let normal = match (path.starts_with('/'), parts.join("/")) {
        (true, rest) => format!("/{rest}"),
        (false, rest) if rest.is_empty() => ".".into(),
        (false, rest) => rest,
    };
    if normal == path { path.into() } else { normal.into() }
}

fn one(path: &str) -> String {
    path.chars().take(80).collect()
}

/// There is no document with this path.
pub(crate) fn not_found(path: &str, namespace: &str) -> Error {
    let message = format!("namespace `{namespace}` has no document `{}`", one(path));
    Error::new(codes::DOCUMENT_NOT_FOUND, message)
}

/// The place of a passage in its document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassagePlace {
    /// The path of the document.
    pub path: String,
    /// The title, and the headings above it, the outermost first.
    pub headings: Vec<String>,
    /// The number of its first line.
    pub line: Option<u64>,
    /// The page that it is on.
    pub page: Option<u64>,
}

impl Node {
    /// The place of a passage in its document; none for other memories.
    pub fn passage(&self) -> Option<PassagePlace> {
        let path = self.session.clone().filter(|_| self.kind.as_deref() == Some(KIND))?;
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let title = text(&self.metadata["title"]);
        let headings = self.metadata["heading"].as_array();
        let mut headings: Vec<String> = headings.into_iter().flatten().filter_map(text).collect();
        if let Some(title) = title.filter(|title| headings.first() != Some(title)) {
            headings.insert(0, title);
        }
        let number = |name: &str| self.metadata[name].as_u64();
        Some(PassagePlace { path, headings, line: number("line"), page: number("page") })
    }
}

impl std::fmt::Display for PassagePlace {
    /// Such as `docs/memory.md:120 › Memory › Import`, or `manual.pdf, page 7`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.path)?;
        match (self.page, self.line) {
            (Some(page), _) => write!(f, ", page {page}")?,
            (None, Some(line)) => write!(f, ":{line}")?,
            (None, None) => {}
        }
        self.headings.iter().try_for_each(|heading| write!(f, " › {heading}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(texts: &[&str]) -> Document {
        let passage = |(text, line): (&&str, u32)| DocumentPassage {
            content: (*text).to_owned(),
            heading: vec!["Set up".into(), "On Linux (x86)".into()],
            line,
            page: None,
            start: 0,
            end: text.len() as u64,
        };
        Document {
            namespace: None,
            path: "docs/a.md".into(),
            kind: DocumentKind::Markdown,
            title: Some("Guide".into()),
            bytes: 10,
            digest: [0; 32],
            tags: Vec::new(),
            at: None,
            passages: texts.iter().zip(1..).map(passage).collect(),
        }
    }

    #[test]
    fn a_size_that_no_row_can_have_is_refused() {
        let large = Document { bytes: u64::MAX, ..document(&["a"]) };
        assert_eq!(large.validate().unwrap_err().code(), "document_size");
        document(&["a"]).validate().unwrap();
    }

    const LOADED: DateTime<Utc> = DateTime::UNIX_EPOCH;

    /// The passages that the plan's new memories become.
    fn known(plan: &LoadPlan) -> Vec<Known> {
        let known = |(memory, id): (&Memory, i64)| Known {
            node: NodeId(id),
            is_unloaded: false,
            key: memory.key.clone(),
            seq: memory.seq,
            source: memory.source.clone(),
            metadata: memory.metadata.clone().into(),
            at: memory.at.unwrap_or(LOADED),
            remembered_at: LOADED,
        };
        plan.written.iter().zip(1..).map(known).collect()
    }

    #[test]
    fn a_passage_keeps_its_node_while_its_text_stays() {
        let before = document(&["one", "two", "two", "three"]).plan("n", "r", Vec::new());
        assert_eq!(before.written.len(), 4);
        let same = document(&["one", "two", "two", "three"]).plan("n", "r", known(&before));
        assert_eq!((same.kept.len(), same.moved.len(), same.written.len(), same.gone.len()), (4, 0, 0, 0));
        let after = document(&["zero", "one", "two", "three"]).plan("n", "r", known(&before));
        assert_eq!(after.kept, [1, 2, 4].map(NodeId));
        assert_eq!(after.gone, [NodeId(3)]);
        assert_eq!(after.moved.iter().map(|it| it.seq).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(after.written[0].seq, Some(0));
    }

    #[test]
    fn a_passage_that_an_unload_forgot_is_restored_if_the_document_has_it() {
        let before = document(&["one", "two"]).plan("n", "r", Vec::new());
        let mut unloaded = known(&before);
        unloaded.iter_mut().for_each(|it| it.is_unloaded = true);
        let after = document(&["two", "three"]).plan("n", "r", unloaded);
        assert_eq!((&after.restored[..], &after.kept[..]), (&[NodeId(2)][..], &[NodeId(2)][..]));
        assert_eq!((after.written.len(), after.gone.len()), (1, 0));
    }

    #[test]
    fn a_passage_has_the_time_of_its_document() {
        let times = |plan: LoadPlan| plan.moved.iter().map(|it| it.at).collect::<Vec<_>>();
        let of =
            |at: Option<&str>| Document { at: at.map(|it| it.parse().unwrap()), ..document(&["one", "two"]) };
        let (undated, dated) = (of(None), of(Some("2026-03-01T00:00:00Z")));
        let before = dated.plan("n", "r", Vec::new());
        assert!(times(dated.plan("n", "r", known(&before))).is_empty());
        let finer = of(Some("2026-03-01T00:00:00.000000001Z"));
        assert!(times(finer.plan("n", "r", known(&before))).is_empty());
        let later = of(Some("2026-03-02T00:00:00Z"));
        assert_eq!(times(later.plan("n", "r", known(&before))), [later.at; 2]);
        assert_eq!(times(undated.plan("n", "r", known(&before))), [Some(LOADED); 2]);
        let before = undated.plan("n", "r", Vec::new());
        assert!(times(undated.plan("n", "r", known(&before))).is_empty());
        assert_eq!(times(dated.plan("n", "r", known(&before))), [dated.at; 2]);
    }

    #[test]
    fn a_source_is_a_link() {
        let plan = document(&["one"]).plan("n", "r", Vec::new());
        assert_eq!(plan.written[0].source.as_deref(), Some("docs/a.md#on-linux-x86"));
    }

    #[test]
    fn a_path_has_one_name() {
        for (path, normal) in [
            ("./a.md", "a.md"),
            ("docs//./a.md", "docs/a.md"),
            ("docs/", "docs"),
            ("../a.md", "../a.md"),
            ("/docs/./a.md", "/docs/a.md"),
            ("/", "/"),
            ("./", "."),
            (".", "."),
            ("", ""),
            ("https://a.org/./b//c", "https://a.org/./b//c"),
        ] {
            assert_eq!(normal_path(path), normal, "{path:?}");
        }
        assert!(matches!(normal_path("docs/a.md"), Cow::Borrowed(_)));
    }

    #[test]
    fn a_path_is_one_line() {
        for path in ["", " ", "a\nb", &"x".repeat(513)] {
            assert_eq!(validate_path(path).unwrap_err().code(), "document_path_invalid");
        }
        validate_path(&"ä".repeat(256)).unwrap();
    }
}
