//! Duplicates and the receipt of a write.

use crate::model::id::NodeId;

/// The receipt of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Receipt {
    /// The node.
    pub node: NodeId,
    /// The outcome.
    pub outcome: Outcome,
    /// The position in its conversation, if the write chose it: the memory continues it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<i32>,
}

impl Receipt {
    pub(crate) fn of(node: NodeId, outcome: Outcome) -> Self {
        Self { node, outcome, seq: None }
    }
}

/// The outcome of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Outcome {
    /// A new node.
    Written,
    /// A node with this key and content exists; nothing was written.
    Existing,
    /// A node with this content exists ([`Deduplicate`]). It is counted as remembered again and gets the new tags.
    /// Nothing else of this memory is kept; use [`Htm::edit`](crate::Htm::edit) to change the node.
    Repeated,
}

/// The scope in which the same text is the same memory. Only a [plain](crate::Memory::is_plain) memory can be a
/// duplicate: one with a key, a time, a conversation or a speaker is an event of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[derive(serde::Serialize, serde::Deserialize, strum::VariantNames)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Deduplicate {
    /// None: every write is a node.
    Off,
    /// Among the memories of one robot.
    Robot,
    /// Within a namespace, for all robots.
    #[default]
    Namespace,
}
