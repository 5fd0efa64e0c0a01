//! What a write is told and what it answers.

use crate::model::id::NodeId;

/// What a write returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Receipt {
    /// The node.
    pub node: NodeId,
    /// Whether this call wrote it, or what was there already.
    pub outcome: Outcome,
}

/// What a write did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// A new node.
    Written,
    /// A node of the same key and the same content was there; nothing was written.
    Existing,
    /// A node of the same content was there ([`Deduplicate`]): it counts this as remembered again, and was given the
    /// tags. Nothing else of this memory is kept; [`Htm::update`](crate::Htm::update) changes what is there.
    Repeated,
}

/// Within what the same text is the same memory, remembered again. Only a [plain](crate::Memory::is_plain) memory is ever a
/// duplicate: one that has a key, a time, a conversation or a speaker is an event of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Deduplicate {
    /// Nowhere: every write is a node.
    Off,
    /// Among the memories of one robot.
    Robot,
    /// Within a namespace, whoever remembers.
    #[default]
    Namespace,
}
