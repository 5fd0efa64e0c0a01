//! The request and the receipt of a purge.

use chrono::{DateTime, Utc};

use crate::model::caller::Caller;
use crate::model::forget::Removed;
use crate::model::scope::Scope;

/// The request of a purge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Purge {
    /// Nodes forgotten before this time, which must have passed.
    pub before: DateTime<Utc>,
    /// The namespaces.
    pub scope: Scope,
    /// The caller; nodes of other robots are left.
    pub caller: Caller,
}

impl Purge {
    /// Nodes of the handle's robot in the handle's namespace, forgotten before this time.
    pub fn before(before: DateTime<Utc>) -> Self {
        Self { before, scope: Scope::default(), caller: Caller::default() }
    }

    /// Sets the namespaces. A robot has nodes only in its own: for all namespaces use [`Caller::AnyRobot`].
    pub fn scope(mut self, scope: Scope) -> Self {
        self.scope = scope;
        self
    }

    /// Sets the caller.
    pub fn caller(mut self, caller: Caller) -> Self {
        self.caller = caller;
        self
    }
}

/// The receipt of a purge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Purged {
    /// Nodes, embeddings, assignments of tags, and jobs, including completed ones.
    #[serde(flatten)]
    pub removed: Removed,
    /// Completions.
    pub completions: u64,
    /// Records of repeated memories.
    pub repeats: u64,
    /// Former texts.
    pub revisions: u64,
    /// Entries of working memories, of robots and groups.
    pub working_memory: u64,
}

impl Purged {
    pub(crate) fn add(&mut self, other: Self) {
        self.removed.add(other.removed);
        self.completions += other.completions;
        self.repeats += other.repeats;
        self.revisions += other.revisions;
        self.working_memory += other.working_memory;
    }
}
