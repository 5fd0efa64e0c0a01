//! What forgetting and restoring say.

use chrono::{DateTime, Utc};
use sha2::{Digest, Sha256};

use crate::model::id::NodeId;

/// The most nodes that a [`ForgetPlan`] holds.
pub const MAX_MATCHES: usize = 1_000;

/// What left the memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
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

/// The receipt of a forget.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Forgotten {
    /// The nodes that are forgotten now; `htm.restore` brings each back.
    pub forgotten: Vec<NodeId>,
    /// Nodes of the plan that were edited or forgotten since it was made: they were left as they are.
    pub left: Vec<NodeId>,
    /// What is found no more. Embeddings and tags are kept for a restore; jobs that waited, and dead letters, are gone.
    #[serde(flatten)]
    pub removed: Removed,
}

/// What a forget by content would forget: exactly this, if it is confirmed.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct ForgetPlan {
    /// The nodes, oldest first; [`MAX_MATCHES`] at most.
    pub matches: Vec<Match>,
    /// Whether there are more than these.
    pub more: bool,
    /// How many others match that the caller may not forget: other robots remembered them, alone or too.
    pub of_others: i64,
}

/// A node that has the text looked for.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Match {
    /// The node.
    pub node: NodeId,
    /// Its revision: the text that was looked at.
    pub revision: i32,
    /// The robot that remembered it.
    pub robot: String,
    /// When it happened.
    pub created_at: DateTime<Utc>,
    /// The text around the first match, about 100 characters.
    pub excerpt: String,
}

impl ForgetPlan {
    /// A name for exactly these nodes at these revisions: eight bytes in hexadecimal.
    pub fn digest(&self) -> String {
        let mut hash = Sha256::new();
        for found in &self.matches {
            hash.update(found.node.0.to_be_bytes());
            hash.update(found.revision.to_be_bytes());
        }
        hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
    }
}

/// What a restore did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Restored {
    /// The node.
    pub node: NodeId,
    /// Jobs that were enqueued for what it lacks.
    pub jobs: u64,
}

/// A node that can be restored.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ForgottenNode {
    /// The node.
    pub node: NodeId,
    /// Its namespace.
    pub namespace: String,
    /// The robot that remembered it.
    pub robot: String,
    /// The key that it had.
    pub key: Option<String>,
    /// When it was forgotten.
    pub deleted_at: DateTime<Utc>,
    /// How its text begins, about 100 characters.
    pub excerpt: String,
}
