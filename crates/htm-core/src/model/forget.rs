//! Plans and receipts of forgetting and restoring.

use chrono::{DateTime, Utc};
use sha2::{Digest, Sha256};

use crate::model::id::NodeId;
use crate::model::timeline::TimeCursor;

/// The most nodes that a [`ForgetPlan`] holds.
pub const MAX_MATCHES: usize = 1_000;

/// Why a node was forgotten.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[derive(serde::Serialize, serde::Deserialize, strum::AsRefStr, strum::Display, strum::EnumString)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum ForgetReason {
    /// A caller asked for it.
    #[default]
    Asked,
    /// It had expired.
    Expired,
    /// It was older than the retention policy of its namespace allows.
    Retention,
    /// Its document was unloaded.
    Unloaded,
}

/// The numbers of removed rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Removed {
    /// Nodes.
    pub nodes: u64,
    /// Their embeddings, of all models.
    pub embeddings: u64,
    /// Assignments of tags to them.
    pub tags: u64,
    /// Their jobs.
    pub jobs: u64,
}

impl Removed {
    pub(crate) fn add(&mut self, other: Self) {
        self.nodes += other.nodes;
        self.embeddings += other.embeddings;
        self.tags += other.tags;
        self.jobs += other.jobs;
    }
}

/// The receipt of a forget.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Forgotten {
    /// The forgotten nodes; `htm.restore` brings each back.
    pub forgotten: Vec<NodeId>,
    /// Nodes of the plan that were edited or forgotten meanwhile and are left as they are.
    pub left: Vec<NodeId>,
    /// The numbers of hidden rows. Embeddings and tags are kept for a restore; waiting jobs and dead letters are
    /// deleted.
    #[serde(flatten)]
    pub removed: Removed,
}

/// The plan of a forget by content. Confirming it forgets exactly these nodes.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ForgetPlan {
    /// The nodes, oldest first; [`MAX_MATCHES`] at most.
    pub matches: Vec<Match>,
    /// Whether more nodes match.
    pub more: bool,
    /// The number of matching nodes that the caller may not forget, because other robots remembered them.
    pub of_others: i64,
}

/// A node that contains the text.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Match {
    /// The node.
    pub node: NodeId,
    /// Its revision.
    pub revision: i32,
    /// The robot that remembered it.
    pub robot: String,
    /// When it happened.
    pub created_at: DateTime<Utc>,
    /// The text around the first match, about 100 characters.
    pub excerpt: String,
}

impl ForgetPlan {
    /// A digest of these nodes and revisions: eight bytes in hexadecimal.
    pub fn digest(&self) -> String {
        let mut hash = Sha256::new();
        for found in &self.matches {
            hash.update(found.node.0.to_be_bytes());
            hash.update(found.revision.to_be_bytes());
        }
        hex::encode(&hash.finalize()[..8])
    }
}

/// The receipt of a restore.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Restored {
    /// The node.
    pub node: NodeId,
    /// Jobs enqueued for missing results.
    pub jobs: u64,
}

/// A node that can be restored.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ForgottenNode {
    /// The node.
    pub node: NodeId,
    /// Its namespace.
    pub namespace: String,
    /// The robot that remembered it.
    pub robot: String,
    /// Its former key.
    pub key: Option<String>,
    /// When it was forgotten.
    pub deleted_at: DateTime<Utc>,
    /// Why it was forgotten.
    pub reason: ForgetReason,
    /// The beginning of its text, about 100 characters.
    pub excerpt: String,
}

impl ForgottenNode {
    /// The cursor of the page after it.
    pub fn cursor(&self) -> TimeCursor {
        TimeCursor { time: self.deleted_at, number: self.node.0 }
    }
}
