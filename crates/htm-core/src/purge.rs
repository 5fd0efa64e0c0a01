//! Purging: what was forgotten before a time is removed for good.

use chrono::{DateTime, Utc};

use crate::caller::Confirmation;
use crate::error::Result;
use crate::forget::Removed;
use crate::htm::Htm;
use crate::memory::{validate_name, validate_time};
use crate::store::purge as store;

/// What to purge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Purge {
    /// What was forgotten before.
    pub before: DateTime<Utc>,
    /// Only in this namespace; none is all of them.
    pub namespace: Option<String>,
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
        self.working_memory += other.working_memory;
    }
}

impl Htm {
    /// What a [`purge`](Self::purge) would remove at this moment. Removes nothing.
    ///
    /// # Errors
    /// `namespace_invalid`, `time_out_of_range`, or a database error.
    pub async fn plan_purge(&self, purge: &Purge) -> Result<Purged> {
        validate(purge)?;
        store::count(self.pool(), purge).await
    }

    /// Removes for good what was forgotten before a time: nothing of it is left, and nothing brings it back. Works in
    /// transactions of 1,000 nodes: one that is interrupted is simply run again. A node that is being restored at this
    /// moment is left.
    ///
    /// # Errors
    /// `not_confirmed`, `namespace_invalid`, `time_out_of_range`, or a database error; what was removed before it is gone.
    pub async fn purge(&self, purge: &Purge, confirmation: Confirmation) -> Result<Purged> {
        validate(purge)?;
        confirmation.require(|| {
            let what = format!("purging what was forgotten before {}", purge.before.to_rfc3339());
            (what, "look at it with `--dry-run`, then say so: `--yes`".into())
        })?;
        let mut purged = Purged::default();
        loop {
            let step = store::nodes_step(self.pool(), purge).await?;
            purged.add(step);
            if step.removed.nodes == 0 {
                break;
            }
        }
        let mut cursor = String::new();
        while let Some((last, jobs)) = store::done_jobs_step(self.pool(), purge, &cursor).await? {
            purged.removed.jobs += jobs;
            cursor = last;
        }
        Ok(purged)
    }
}

fn validate(purge: &Purge) -> Result<()> {
    validate_time(purge.before)?;
    purge.namespace.as_deref().map_or(Ok(()), |namespace| validate_name("namespace", namespace, 128))
}
