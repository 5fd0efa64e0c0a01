//! Groups of robots: what they are, who is in them, and a member's copy of what they have in mind.

pub(crate) mod errors;
pub(crate) mod mirror;

use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::model::id::{GroupId, NodeId};

/// What a member of a group does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum GroupRole {
    /// It writes.
    Active,
    /// It follows, and takes over when no active member is left.
    Passive,
}

impl GroupRole {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Active, Self::Passive];

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Passive => "passive",
        }
    }
}

impl std::fmt::Display for GroupRole {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How a robot joins.
#[derive(Clone, Copy, Debug)]
pub struct JoinOptions {
    /// In which role; none is active when no other active member is alive, else passive. A group whose members are all
    /// passive does not stay so: one that joins it as passive becomes active when no active one came within its lease.
    pub role: Option<GroupRole>,
    /// For how long it may go unseen; 100 ms to a day.
    pub lease: Duration,
    /// What the group's working memory holds, in tokens, if this is its first member.
    pub max_tokens: u64,
}

impl Default for JoinOptions {
    /// In whichever role is wanted, a lease of 3 seconds, 128,000 tokens.
    fn default() -> Self {
        Self { role: None, lease: Duration::from_secs(3), max_tokens: 128_000 }
    }
}

/// A group.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct GroupInfo {
    /// Its number.
    pub id: GroupId,
    /// Its namespace.
    pub namespace: String,
    /// Its name, unique in its namespace.
    pub name: String,
    /// What its working memory holds at most, in tokens.
    pub max_tokens: i64,
    /// What it holds, in tokens, as the nodes were counted when they were written.
    pub tokens: i64,
    /// Nodes that it holds.
    pub nodes: i64,
    /// Counts its changes.
    pub version: i64,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// When it was shut down; none while it is open.
    pub closed_at: Option<DateTime<Utc>>,
    /// Its members: the active ones first, who joined first before the others.
    pub members: Vec<GroupMemberInfo>,
}

/// A member of a group, by the database's clock.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct GroupMemberInfo {
    /// The robot's name.
    pub robot: String,
    /// What it does.
    pub role: GroupRole,
    /// Whether it was seen within its lease.
    pub alive: bool,
    /// Milliseconds since it was seen.
    pub unseen_ms: i64,
    /// For how long it may go unseen, in milliseconds.
    pub lease_ms: i64,
    /// The version of the working memory that it had when it was seen.
    pub seen_version: i64,
    /// When it joined, with the process that speaks for it.
    pub joined_at: DateTime<Utc>,
}

/// Which nodes are transferred.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transferred {
    /// All that are in mind.
    All,
    /// These.
    Nodes(Vec<NodeId>),
}

/// Where nodes are transferred to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TransferTarget {
    /// Another group of the namespace.
    Group(String),
    /// The working memory of a robot of the namespace, where the robot finds them when it starts next.
    Robot(String),
}

/// What a transfer did.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct TransferReceipt {
    /// The nodes that are at their target now, and no more where they were.
    pub transferred: Vec<NodeId>,
    /// The nodes that had to leave the target for them.
    pub evicted: Vec<NodeId>,
}

/// Whether a group that is shut down keeps what it had in mind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterShutdown {
    /// For whoever joins it next.
    Keep,
    /// No; the nodes stay in long-term memory.
    Clear,
}

/// What happens to a member.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum GroupEvent {
    /// The working memory changed, by this member or another one.
    Synced {
        /// The version that this member has now.
        version: i64,
        /// Nodes that came in.
        added: Vec<NodeId>,
        /// Nodes that left.
        removed: Vec<NodeId>,
    },
    /// It is active now.
    Promoted,
    /// It is passive now.
    Demoted,
    /// Another process speaks for its robot now, or the robot is no member any more. The last event.
    Replaced,
    /// The group was shut down. The last event.
    Closed,
}
