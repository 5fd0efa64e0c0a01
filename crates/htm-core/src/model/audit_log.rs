//! The audit log: who did what.

use chrono::{DateTime, Utc};
use serde_json::{Map, Value};

use crate::model::timeline::TimeCursor;

/// An entry of the audit log.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AuditEntry {
    /// The cursor of the page after it.
    #[serde(skip)]
    pub cursor: TimeCursor,
    /// The time of the action.
    pub at: DateTime<Utc>,
    /// The actor: a key of the API, or the robot of a program.
    pub actor: String,
    /// The action, such as `key.revoke`, `quota.set`, `purge`, `tags.rename`.
    pub action: String,
    /// The namespace. Null: all.
    pub namespace: Option<String>,
    /// The subject of the action, such as a key's id.
    pub subject: Option<String>,
    /// Numbers and names. No text of a memory.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub details: Map<String, Value>,
}
