//! What robots are, and what they have done.

pub(crate) mod name;

use chrono::{DateTime, Utc};
use serde_json::Value;
use uuid::Uuid;

use crate::model::error::{Error, codes};
use crate::model::id::RobotId;

/// A robot, as it is registered.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct RobotInfo {
    /// Its number, as rows refer to it.
    pub id: RobotId,
    /// Its identity, whatever it is called.
    pub uuid: Uuid,
    /// Its namespace.
    pub namespace: String,
    /// Its name, unique in its namespace.
    pub name: String,
    /// A JSON object.
    pub metadata: Value,
    /// When it was registered.
    pub created_at: DateTime<Utc>,
    /// When it remembered or recalled last, to the minute: it is written behind the calls.
    pub last_active: Option<DateTime<Utc>>,
    /// The most tokens that its working memory holds; none: what the program that opens it is set to
    /// ([`Settings::working_memory_tokens`](crate::Settings::working_memory_tokens)).
    pub max_tokens: Option<usize>,
}

/// The largest budget of a working memory, in tokens.
pub const MAX_BUDGET: usize = 1_000_000_000;

/// A robot with what it has done.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct RobotStatistics {
    /// The robot.
    #[serde(flatten)]
    pub robot: RobotInfo,
    /// Live nodes that it made.
    pub nodes: i64,
    /// Their tokens.
    pub tokens: i64,
    /// Nodes that it made and that are forgotten, not purged.
    pub forgotten: i64,
    /// How often it said again what was remembered already.
    pub repeats: i64,
    /// When its first live memory happened.
    pub first_memory: Option<DateTime<Utc>>,
    /// When its last live memory happened.
    pub last_memory: Option<DateTime<Utc>>,
    /// Live nodes in its working memory, as it was written last.
    pub in_working_memory: i64,
    /// Their tokens.
    pub working_memory_tokens: i64,
    /// The groups that it is a member of.
    pub groups: Vec<String>,
}

/// What a merge moved.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct MergeReceipt {
    /// The namespace.
    pub namespace: String,
    /// The robot that has it all now.
    pub into: String,
    /// The robots that are no more.
    pub from: Vec<String>,
    /// Nodes that changed hands, forgotten ones too.
    pub nodes: i64,
    /// Records of what was said again.
    pub repeats: i64,
    /// Nodes that came into its working memory.
    pub working_memory: i64,
    /// Memberships in groups that ended.
    pub memberships: i64,
}

pub(crate) fn unknown(namespace: &str, name: &str) -> Error {
    let name: String = name.chars().take(128).collect();
    Error::new(codes::ROBOT_UNKNOWN, format!("namespace `{namespace}` has no robot `{name}`"))
}

pub(crate) fn taken(namespace: &str, name: &str) -> Error {
    let message = format!("namespace `{namespace}` has a robot `{name}` already");
    Error::new(codes::ROBOT_TAKEN, message).with_value("name", name).with_value("namespace", namespace)
}
