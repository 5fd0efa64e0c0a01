//! A node as a row.

use chrono::{DateTime, Utc};
use sqlx::types::Json;

use crate::model::error::Result;
use crate::model::id::NodeId;
use crate::model::nodes::Node;
use crate::model::relations::Successor;
use crate::model::tags::read_tag;

/// The columns of a [`NodeRow`].
pub(crate) fn node_columns() -> String {
    include_str!("../sql/node.sql").trim_end().replace("{{successors}}", successors())
}

/// The nodes that supersede the node `m`, as a column.
pub(crate) fn successors() -> &'static str {
    include_str!("../sql/successors.sql").trim_end()
}

/// A node as selected by [`node_columns`].
#[derive(sqlx::FromRow)]
pub(crate) struct NodeRow {
    pub(crate) id: NodeId,
    namespace: String,
    robot: String,
    key: Option<String>,
    content: String,
    speaker: Option<String>,
    session: Option<String>,
    seq: Option<i32>,
    source: Option<String>,
    kind: Option<String>,
    pub(crate) importance: f32,
    token_count: i32,
    token_encoding: String,
    metadata: serde_json::Value,
    revision: i32,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
    expires_at: Option<DateTime<Utc>>,
    ttl_seconds: Option<i64>,
    tags: Vec<String>,
    remember_count: i64,
    first_remembered: DateTime<Utc>,
    last_remembered: DateTime<Utc>,
    superseded_by: Option<Json<Vec<Successor>>>,
}

impl NodeRow {
    pub(crate) fn into_node(self) -> Result<Node> {
        Ok(Node {
            id: self.id,
            namespace: self.namespace,
            robot: self.robot,
            key: self.key,
            content: self.content,
            speaker: self.speaker,
            session: self.session,
            seq: self.seq,
            source: self.source,
            kind: self.kind,
            importance: self.importance,
            token_count: self.token_count,
            token_encoding: self.token_encoding,
            tags: self.tags.into_iter().map(read_tag).collect::<Result<_>>()?,
            metadata: self.metadata,
            remember_count: self.remember_count,
            first_remembered: self.first_remembered,
            last_remembered: self.last_remembered,
            revision: self.revision,
            created_at: self.created_at,
            updated_at: self.updated_at,
            expires_at: self.expires_at,
            ttl_seconds: self.ttl_seconds,
            superseded_by: self.superseded_by.map(|it| it.0).unwrap_or_default(),
        })
    }
}
