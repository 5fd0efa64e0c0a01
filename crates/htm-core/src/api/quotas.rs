//! Quotas of namespaces: how many memories, and how many bytes of text.
//!
//! A namespace without a quota costs nothing. One with a quota is counted again every few seconds, and each handle adds
//! what it writes in between. So a namespace can exceed its quota by what other processes write in that time.

use serde_json::json;

use crate::api::htm::Htm;
use crate::model::error::Result;
use crate::model::quota::{Quota, QuotaUse};
use crate::store::quotas as store;

impl Htm {
    /// The quota of a namespace (default: the handle's).
    ///
    /// # Errors
    /// `namespace_invalid`, `namespace_forbidden`, or a database error.
    pub async fn quota(&self, namespace: Option<&str>) -> Result<Quota> {
        store::get(self.pool(), self.namespace_or_own(namespace)?).await
    }

    /// Counts what a namespace (default: the handle's) uses of its quota. Reads all of its nodes.
    ///
    /// # Errors
    /// `namespace_invalid`, `namespace_forbidden`, or a database error.
    pub async fn quota_use(&self, namespace: Option<&str>) -> Result<QuotaUse> {
        store::used(self.pool(), self.namespace_or_own(namespace)?).await
    }

    /// Sets the quota of a namespace (default: the handle's). The empty quota limits nothing. A namespace that has more
    /// keeps it, and gets no more. Other processes notice within 5 seconds.
    ///
    /// # Errors
    /// `limit_out_of_range`, `namespace_invalid`, `namespace_forbidden`, or a database error.
    pub async fn set_quota(&self, namespace: Option<&str>, quota: Quota) -> Result<()> {
        quota.validate()?;
        let namespace = self.namespace_or_own(namespace)?;
        let details = json!({"max_memories": quota.max_memories, "max_bytes": quota.max_bytes});
        let mut tx = self.pool().begin().await?;
        store::set_in_tx(&mut tx, namespace, quota).await?;
        self.record_in_tx(&mut tx, self.done("quota.set", Some(namespace), None, details)).await?;
        tx.commit().await?;
        self.rooms().forget(namespace).await;
        Ok(())
    }

    /// Whether a namespace has a quota, to within a few seconds.
    pub(crate) async fn is_limited(&self, namespace: &str) -> Result<bool> {
        self.rooms().is_limited(self.pool(), namespace).await
    }

    /// Refuses a text for which the quota of its namespace has no room, and counts it otherwise.
    pub(crate) async fn make_room(&self, namespace: &str, memories: i64, bytes: usize) -> Result<()> {
        let more = QuotaUse { memories, bytes: bytes as i64 };
        self.rooms().take(self.pool(), namespace, more).await
    }
}
