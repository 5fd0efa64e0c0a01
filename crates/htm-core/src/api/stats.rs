//! Counts by robot, namespace, type and tag; progress, ages, sizes.

use crate::api::htm::Htm;
use crate::model::error::Result;
use crate::model::stats::{MemoryStats, StatsQuery};
use crate::store::stats;

impl Htm {
    /// The statistics of the memory. Reads every node of the scope twice and every tag assignment once: a few seconds
    /// for a million nodes.
    ///
    /// # Errors
    /// `namespace_invalid`, or a database error.
    pub async fn memory_stats(&self, query: &StatsQuery) -> Result<MemoryStats> {
        let limit = self.settings().working_memory_tokens;
        let namespace = query.scope.namespace(self)?;
        let all = self.namespaces().is_none();
        self.reading(|htm| async move { stats::memory(htm.pool(), namespace, query.top, limit, all).await })
            .await
    }
}
