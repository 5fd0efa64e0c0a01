//! Purging: what was forgotten before a time is removed for good.

use chrono::{DateTime, Utc};

use crate::api::forget::Removed;
use crate::api::htm::Htm;
use crate::api::scope::Scope;
use crate::model::caller::{Caller, Confirmation};
use crate::model::error::{Error, Result};
use crate::model::memory::validate_time;
use crate::store::purge::{self as store, Doomed};

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
    fn add(&mut self, other: Self) {
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

impl Htm {
    /// What a [`purge`](Self::purge) would remove at this moment. Removes nothing.
    ///
    /// # Errors
    /// `namespace_invalid`, `time_out_of_range`, `time_in_future`, or a database error.
    pub async fn plan_purge(&self, purge: &Purge) -> Result<Purged> {
        let doomed = self.doomed(purge).await?;
        store::count(self.pool(), &doomed).await
    }

    /// Removes for good what was forgotten before a time, of the robot that asks: nothing of it is left, and nothing
    /// brings it back. Works in transactions of 1,000 nodes: one that is interrupted is simply run again. A node that is
    /// being restored at this moment is left.
    ///
    /// # Errors
    /// `not_confirmed`, `namespace_invalid`, `time_out_of_range`, `time_in_future`, or a database error; what was removed
    /// before it is gone.
    pub async fn purge(&self, purge: &Purge, confirmation: Confirmation) -> Result<Purged> {
        let doomed = self.doomed(purge).await?;
        confirmation.require(|| {
            let what = format!("purging what was forgotten before {}", purge.before.to_rfc3339());
            (what, "look at it with `--dry-run`, then say so: `--yes`".into())
        })?;
        let mut purged = Purged::default();
        loop {
            let step = store::nodes_step(self.pool(), &doomed).await?;
            purged.add(step);
            if step.removed.nodes == 0 {
                break;
            }
        }
        let mut cursor = String::new();
        while let Some((last, jobs)) = store::done_jobs_step(self.pool(), &doomed, &cursor).await? {
            purged.removed.jobs += jobs;
            cursor = last;
        }
        Ok(purged)
    }

    async fn doomed<'a>(&'a self, purge: &'a Purge) -> Result<Doomed<'a>> {
        validate_time(purge.before)?;
        let namespace = purge.scope.namespace(self)?;
        let now = store::now(self.pool()).await?;
        if purge.before > now {
            return Err(Error::TimeInFuture { value: purge.before, now });
        }
        Ok(Doomed { before: purge.before, namespace, owner: purge.caller.owner(self.settings()) })
    }
}
