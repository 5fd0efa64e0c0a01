//! Quotas of namespaces: how many memories, and how many bytes of text.
//!
//! A namespace without a quota costs nothing. One with a quota is counted again every few seconds, and each handle adds
//! what it writes in between. So a namespace can exceed its quota by what other processes write in that time.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use moka::future::Cache;
use serde_json::json;

use crate::api::htm::Htm;
use crate::model::error::Result;
use crate::model::quota::{Quota, QuotaUse};
use crate::store::quotas as store;

/// The time after which a namespace is counted again, and a new quota is noticed.
const KEPT: Duration = Duration::from_secs(5);

/// The quotas and the uses of the namespaces that were written to lately.
pub(crate) struct Rooms(Cache<String, Arc<Room>>);

impl Default for Rooms {
    fn default() -> Self {
        Self(Cache::builder().max_capacity(100_000).time_to_live(KEPT).build())
    }
}

struct Room {
    quota: Quota,
    used: Mutex<QuotaUse>,
}

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
        self.rooms().0.invalidate(namespace).await;
        Ok(())
    }

    /// Refuses a text for which the quota of its namespace has no room, and counts it otherwise.
    pub(crate) async fn make_room(&self, namespace: &str, memories: i64, bytes: usize) -> Result<()> {
        let room = match self.rooms().0.get(namespace).await {
            Some(room) => room,
            None => {
                let quota = store::get(self.pool(), namespace).await?;
                let used = match quota.is_none() {
                    true => QuotaUse::default(),
                    false => store::used(self.pool(), namespace).await?,
                };
                let room = Arc::new(Room { quota, used: Mutex::new(used) });
                self.rooms().0.insert(namespace.to_owned(), room.clone()).await;
                room
            }
        };
        if !room.quota.is_none() {
            let mut used = room.used.lock().unwrap_or_else(PoisonError::into_inner);
            *used = used.plus(QuotaUse { memories, bytes: bytes as i64 }).within(namespace, room.quota)?;
        }
        Ok(())
    }
}
