//! A node: one memory.

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::model::error::{Error, ErrorKind, Result, codes};
use crate::model::id::NodeId;
use crate::model::relations::Successor;
use crate::model::tags::{TagOrigin, TagPath};

/// A memory with its attributes.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Node {
    /// Its id.
    pub id: NodeId,
    /// Its namespace.
    pub namespace: String,
    /// The name of the robot that remembered it.
    pub robot: String,
    /// Its key, if any.
    pub key: Option<String>,
    /// The text.
    pub content: String,
    /// The speaker.
    pub speaker: Option<String>,
    /// The conversation.
    pub session: Option<String>,
    /// Its position in the conversation.
    pub seq: Option<i32>,
    /// The source: a file, a chat, a URL.
    pub source: Option<String>,
    /// The kind: `fact`, `decision`, …
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// The importance, 1 to 10.
    pub importance: f32,
    /// The number of tokens of the text.
    pub token_count: i32,
    /// The encoding that counted the tokens: the one configured when the text was written.
    pub token_encoding: String,
    /// Tags, of every origin, in order of their paths.
    pub tags: Vec<TagPath>,
    /// The metadata, a JSON object.
    pub metadata: Value,
    /// The number of times that it was remembered: 1, and 1 more for each repeat.
    pub remember_count: i64,
    /// When it was first remembered. `created_at` is when it happened.
    pub first_remembered: DateTime<Utc>,
    /// When it was last remembered.
    pub last_remembered: DateTime<Utc>,
    /// The number of times that its text was written, from 1.
    pub revision: i32,
    /// When it happened.
    pub created_at: DateTime<Utc>,
    /// When its text was last written.
    pub updated_at: DateTime<Utc>,
    /// When it expires; none: never.
    pub expires_at: Option<DateTime<Utc>>,
    /// The time in seconds from a refresh to the expiry; none: a refresh does not move the expiry.
    pub ttl_seconds: Option<i64>,
    /// The memories that supersede it, the last set first; empty: none does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub superseded_by: Vec<Successor>,
}

/// A version of a node's text.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Revision {
    /// Its number, from 1.
    pub revision: i32,
    /// The text.
    pub content: String,
    /// The robot that wrote it, by its name at that time.
    pub author: String,
    /// When it was written.
    pub written_at: DateTime<Utc>,
}

/// A tag of a node, and who set it.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TagAssignment {
    /// The tag.
    pub tag: TagPath,
    /// The origin.
    pub origin: TagOrigin,
    /// The model; none for a manual assignment.
    pub model: Option<String>,
    /// The version of its prompt or rules.
    pub prompt_version: Option<String>,
    /// The confidence, 0 to 1, if the origin tells one.
    pub confidence: Option<f32>,
    /// When it was set.
    pub assigned_at: DateTime<Utc>,
}

/// There is no such node, or the caller does not see its namespace.
pub(crate) fn not_found(node: NodeId) -> Error {
    Error::new(codes::NODE_NOT_FOUND, format!("there is no node {node}"))
        .with_kind(ErrorKind::NodeNotFound { node })
        .with_value("node", node)
}

/// The node was not remembered by then, or was forgotten.
pub(crate) fn not_found_as_of(node: NodeId, time: &str) -> Error {
    Error::new(codes::NODE_NOT_FOUND, format!("there was no node {node} at {time}"))
        .with_kind(ErrorKind::NodeNotFound { node })
        .with_hint("ask for a later time, or for none: it may be there now")
        .with_value("node", node)
        .with_value("as_of", time)
}

/// The node was forgotten, in a namespace that the caller sees.
pub(crate) fn forgotten(node: NodeId, namespace: &str) -> Error {
    Error::new(codes::NODE_NOT_FOUND, format!("node {node} is forgotten"))
        .with_kind(ErrorKind::NodeNotFound { node })
        .with_hint("bring it back: `Htm::restore`")
        .with_value("node", node)
        .with_value("namespace", namespace)
}

/// Checks that the node was not edited since the caller read it; none: the caller does not care.
///
/// # Errors
/// `revision_conflict`.
pub(crate) fn expect_revision(node: NodeId, current: i32, expected: Option<i32>) -> Result<()> {
    let Some(expected) = expected.filter(|expected| *expected != current) else { return Ok(()) };
    let message = format!("node {node} is at revision {current}, not {expected}");
    Err(Error::new(codes::REVISION_CONFLICT, message)
        .with_kind(ErrorKind::RevisionConflict { current })
        .with_value("node", node))
}

/// The node `holder` has the key.
pub(crate) fn key_taken(key: &str, namespace: &str, holder: NodeId) -> Error {
    let message = format!("key `{key}` in namespace `{namespace}` is taken by node {holder}");
    Error::new(codes::KEY_TAKEN, message)
        .with_kind(ErrorKind::KeyTaken { node: holder })
        .with_hint(format!("use another key, or read node {holder}: `Htm::get`"))
        .with_value("node", holder)
}

/// The key of a forgotten node, which is to be restored, was given to another one.
pub(crate) fn key_taken_meanwhile(error: Error, node: NodeId) -> Error {
    let hint = "give the node that has the key another one, or forget it, and restore again: `Htm::edit`, `Htm::forget`";
    error.with_hint(hint).with_value("restored", node)
}

/// The node `holder` has the content, in a scope where it may exist only once.
pub(crate) fn content_taken(node: NodeId, holder: NodeId) -> Error {
    let message = format!("node {holder} has this content already, so node {node} cannot have it");
    Error::new(codes::CONTENT_TAKEN, message)
        .with_kind(ErrorKind::ContentTaken { node: holder })
        .with_hint(format!("use node {holder}, or forget one of the two: `Htm::get`, `Htm::forget`"))
        .with_value("node", holder)
}
