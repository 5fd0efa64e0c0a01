//! A node: one memory.

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::model::error::{Error, ErrorKind, codes};
use crate::model::id::NodeId;
use crate::model::tags::TagPath;

/// A memory, with what is known about it.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Node {
    /// Its id.
    pub id: NodeId,
    /// Its namespace.
    pub namespace: String,
    /// The name of the robot that remembered it.
    pub robot: String,
    /// Its key, if it was given one.
    pub key: Option<String>,
    /// The text.
    pub content: String,
    /// Who said it.
    pub speaker: Option<String>,
    /// The conversation that it was said in.
    pub session: Option<String>,
    /// Its place in the conversation.
    pub seq: Option<i32>,
    /// Where it comes from.
    pub source: Option<String>,
    /// What it is: `fact`, `decision`, …
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// 1 to 10.
    pub importance: f32,
    /// Tokens of the text.
    pub token_count: i32,
    /// What counted them: the encoding configured when the text was written.
    pub token_encoding: String,
    /// Tags, of every origin, in order of their paths.
    pub tags: Vec<TagPath>,
    /// A JSON object.
    pub metadata: Value,
    /// How often it was remembered: 1, and once more for each time that the same was remembered again.
    pub remember_count: i64,
    /// When it was remembered first. When it happened is `created_at`.
    pub first_remembered: DateTime<Utc>,
    /// When it was remembered last.
    pub last_remembered: DateTime<Utc>,
    /// How many times its text was written, from 1.
    pub revision: i32,
    /// When it happened.
    pub created_at: DateTime<Utc>,
    /// When its text was last written.
    pub updated_at: DateTime<Utc>,
}

/// One text of a node.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Revision {
    /// Its number, from 1.
    pub revision: i32,
    /// The text.
    pub content: String,
    /// The robot that wrote it, as it was called then.
    pub author: String,
    /// When it was written.
    pub written_at: DateTime<Utc>,
}

/// There is no such node, or it was forgotten.
pub(crate) fn not_found(node: NodeId) -> Error {
    Error::new(codes::NODE_NOT_FOUND, format!("there is no node {node}"))
        .with_kind(ErrorKind::NodeNotFound { node })
        .with_value("node", node)
}

/// The key names the node `holder`.
pub(crate) fn key_taken(key: &str, namespace: &str, holder: NodeId) -> Error {
    let message = format!("key `{key}` in namespace `{namespace}` is taken by node {holder}");
    Error::new(codes::KEY_TAKEN, message)
        .with_kind(ErrorKind::KeyTaken { node: holder })
        .with_hint(format!("use another key, or read node {holder}: `Htm::get`"))
        .with_value("node", holder)
}

/// The content of `node` would stand twice, where it may stand once.
pub(crate) fn content_taken(node: NodeId, holder: NodeId) -> Error {
    let message = format!("node {holder} has this content already, so node {node} cannot have it");
    Error::new(codes::CONTENT_TAKEN, message)
        .with_kind(ErrorKind::ContentTaken { node: holder })
        .with_hint(format!("use node {holder}, or forget one of the two: `Htm::get`, `Htm::forget`"))
        .with_value("node", holder)
}
