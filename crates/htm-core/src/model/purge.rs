//! What is purged, and what that did.

use chrono::{DateTime, Utc};

use crate::model::caller::Caller;
use crate::model::forget::Removed;
use crate::model::scope::Scope;

/// What to purge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Purge {
    /// What was forgotten before; a time that has passed.
    pub before: DateTime<Utc>,
    /// In which namespaces.
    pub scope: Scope,
    /// Who asks: what other robots remembered is left.
    pub caller: Caller,
}

impl Purge {
    /// What the handle's robot remembered in the handle's namespace, forgotten before this time.
    pub fn before(before: DateTime<Utc>) -> Self {
        Self { before, scope: Scope::default(), caller: Caller::default() }
    }

    /// In other namespaces. A robot has nodes in its own alone: for those of all, let any robot ask.
    pub fn scope(mut self, scope: Scope) -> Self {
        self.scope = scope;
        self
    }

    /// Sets who asks.
    pub fn caller(mut self, caller: Caller) -> Self {
        self.caller = caller;
        self
    }
}

/// The receipt of a purge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Purged {
    /// Nodes, embeddings, assignments of tags, and jobs, the done ones too.
    #[serde(flatten)]
    pub removed: Removed,
    /// What said that a stage of a node is done.
    pub completions: u64,
    /// What counted how often a node was remembered again.
    pub repeats: u64,
    /// Former texts, which edits replaced.
    pub revisions: u64,
    /// Places in working memories, of robots and of groups.
    pub working_memory: u64,
}

impl Purged {
    pub(crate) fn add(&mut self, other: Self) {
        self.removed.nodes += other.removed.nodes;
        self.removed.embeddings += other.removed.embeddings;
        self.removed.tags += other.removed.tags;
        self.removed.jobs += other.removed.jobs;
        self.completions += other.completions;
        self.repeats += other.repeats;
        self.revisions += other.revisions;
        self.working_memory += other.working_memory;
    }
}
