//! Robots and their statistics.

pub(crate) mod name;

use chrono::{DateTime, Utc};
use serde_json::Value;
use uuid::Uuid;

use crate::model::error::{Error, codes};
use crate::model::id::RobotId;

/// A registered robot.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RobotInfo {
    /// Its number, which rows refer to.
    pub id: RobotId,
    /// Its identity, independent of its name.
    pub uuid: Uuid,
    /// Its namespace.
    pub namespace: String,
    /// Its name, unique in its namespace.
    pub name: String,
    /// The metadata, a JSON object.
    pub metadata: Value,
    /// When it was registered.
    pub created_at: DateTime<Utc>,
    /// When it remembered or recalled last, to the minute. Saved in the background.
    pub last_active: Option<DateTime<Utc>>,
    /// The token budget of its working memory; none: the default of the program that opens it
    /// ([`Settings::working_memory_tokens`](crate::Settings::working_memory_tokens)).
    pub max_tokens: Option<usize>,
}

/// The largest budget of a working memory, in tokens.
pub const MAX_BUDGET: usize = 1_000_000_000;

/// The budget of a working memory for which none is given, in tokens.
pub const DEFAULT_BUDGET: usize = 128_000;

/// A robot with its statistics.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RobotStatistics {
    /// The robot.
    #[serde(flatten)]
    pub robot: RobotInfo,
    /// Its live nodes.
    pub nodes: i64,
    /// Their tokens.
    pub tokens: i64,
    /// Its forgotten nodes.
    pub forgotten: i64,
    /// Its repeats of existing memories.
    pub repeats: i64,
    /// When its first live memory happened.
    pub first_memory: Option<DateTime<Utc>>,
    /// When its last live memory happened.
    pub last_memory: Option<DateTime<Utc>>,
    /// Live nodes in its saved working memory.
    pub in_working_memory: i64,
    /// Their tokens.
    pub working_memory_tokens: i64,
    /// Its groups.
    pub groups: Vec<String>,
}

/// The receipt of a merge.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MergeReceipt {
    /// The namespace.
    pub namespace: String,
    /// The remaining robot.
    pub into: String,
    /// The deleted robots.
    pub from: Vec<String>,
    /// Moved nodes, including forgotten ones.
    pub nodes: i64,
    /// Moved records of repeats.
    pub repeats: i64,
    /// Nodes added to its working memory.
    pub working_memory: i64,
    /// Ended group memberships.
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
