//! A node as it is read.

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::id::NodeId;
use crate::tag::TagPath;

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
    /// How many times its text was written, from 1.
    pub revision: i32,
    /// When it happened.
    pub created_at: DateTime<Utc>,
    /// When its text was last written.
    pub updated_at: DateTime<Utc>,
}
