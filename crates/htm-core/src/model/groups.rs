//! Groups of robots, their members, and a member's copy of the shared working memory.

pub(crate) mod errors;
pub(crate) mod mirror;

use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::model::id::{GroupId, NodeId};
use crate::model::robots::DEFAULT_BUDGET;
use crate::model::working_memory::Entry;

/// The role of a group's member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(serde::Serialize, serde::Deserialize)]
#[derive(strum::Display, strum::EnumString, strum::AsRefStr, strum::IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum GroupRole {
    /// It writes.
    Active,
    /// It follows, and takes over when no active member is left.
    Passive,
}

/// The options of a join.
#[derive(Clone, Copy, Debug)]
pub struct JoinOptions {
    /// The role; none: active if no other active member is alive, otherwise passive. If all members are passive, one
    /// becomes active when no active one has come within its lease.
    pub role: Option<GroupRole>,
    /// The lease, 100 ms to a day.
    pub lease: Duration,
    /// The token budget of the group's working memory, if this is its first member.
    pub max_tokens: u64,
}

impl Default for JoinOptions {
    /// No role, a lease of 3 seconds, [`DEFAULT_BUDGET`].
    fn default() -> Self {
        Self { role: None, lease: Duration::from_secs(3), max_tokens: DEFAULT_BUDGET as u64 }
    }
}

/// A group.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GroupInfo {
    /// Its number.
    pub id: GroupId,
    /// Its namespace.
    pub namespace: String,
    /// Its name, unique in its namespace.
    pub name: String,
    /// The token budget of its working memory.
    pub max_tokens: i64,
    /// The tokens in it, as counted when the nodes were written.
    pub tokens: i64,
    /// The nodes in it.
    pub nodes: i64,
    /// The version of its working memory.
    pub version: i64,
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// When it was shut down; none while it is open.
    pub closed_at: Option<DateTime<Utc>>,
    /// Its members: the active ones first, each in the order of joining.
    pub members: Vec<GroupMemberInfo>,
}

/// A member of a group, by the database's clock.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GroupMemberInfo {
    /// The robot's name.
    pub robot: String,
    /// Its role.
    pub role: GroupRole,
    /// Whether it was seen within its lease.
    pub alive: bool,
    /// Milliseconds since it was seen.
    pub unseen_ms: i64,
    /// Its lease, in milliseconds.
    pub lease_ms: i64,
    /// The version of the working memory that it last reported.
    pub seen_version: i64,
    /// When its current process joined.
    pub joined_at: DateTime<Utc>,
}

/// The news for a member, by a heartbeat.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GroupNews {
    /// Its role.
    pub role: GroupRole,
    /// The version of the working memory. An edit of a node is no new version; a context has it.
    pub version: i64,
    /// The token budget of the working memory.
    pub max_tokens: usize,
    /// Whether `nodes` are the whole working memory, and not what has changed.
    pub whole: bool,
    /// Added and used nodes, in the order in which they were added.
    pub nodes: Vec<Entry>,
    /// Removed nodes.
    pub removed: Vec<NodeId>,
}

/// The nodes to transfer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transferred {
    /// The whole working memory.
    All,
    /// These nodes.
    Nodes(Vec<NodeId>),
}

/// The target of a transfer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TransferTarget {
    /// Another group of the namespace.
    Group(String),
    /// The working memory of a robot of the namespace; the robot sees them when it is opened next.
    Robot(String),
}

/// The receipt of a transfer.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TransferReceipt {
    /// The moved nodes.
    pub transferred: Vec<NodeId>,
    /// Nodes evicted from the target.
    pub evicted: Vec<NodeId>,
}

/// Whether a closed group keeps its working memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterShutdown {
    /// Keep it for later members.
    Keep,
    /// Clear it; the nodes stay in long-term memory.
    Clear,
}

/// An event of a group.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum GroupEvent {
    /// The working memory changed, by this member or another one.
    Synced {
        /// The new version.
        version: i64,
        /// Added nodes.
        added: Vec<NodeId>,
        /// Removed nodes.
        removed: Vec<NodeId>,
    },
    /// This member is active now.
    Promoted,
    /// This member is passive now.
    Demoted,
    /// Another process replaced this one, or the membership ended. The last event.
    Replaced,
    /// The group was shut down. The last event.
    Closed,
}
