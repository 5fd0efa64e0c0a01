//! The quotas of namespaces that were written to lately, and what these use of them.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use moka::future::Cache;
use sqlx::PgConnection;

use crate::model::error::{Error, Result};
use crate::model::quota::{Quota, QuotaUse};
use crate::store::connections::Db;
use crate::store::quotas as store;

/// The time after which a namespace is counted again, and a new quota is noticed.
const KEPT: Duration = Duration::from_secs(5);

/// The quotas and the uses, by namespace.
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

impl Rooms {
    /// Adds to the use of a namespace, unless its quota has no room.
    pub(crate) async fn take(&self, db: Db<'_>, namespace: &str, more: QuotaUse) -> Result<()> {
        let room = self.room(db, namespace).await?;
        if room.quota.limits_memories() {
            let mut used = room.used.lock().unwrap_or_else(PoisonError::into_inner);
            *used = used.plus(more).within(namespace, room.quota)?;
        }
        Ok(())
    }

    /// Takes from the use of a namespace what is gone from it. One that is not counted now is counted without it.
    pub(crate) async fn give(&self, namespace: &str, gone: QuotaUse) {
        if let Some(room) = self.0.get(namespace).await {
            let mut used = room.used.lock().unwrap_or_else(PoisonError::into_inner);
            *used = used.less(gone);
        }
    }

    /// Whether a namespace has a quota of memories.
    pub(crate) async fn is_limited(&self, db: Db<'_>, namespace: &str) -> Result<bool> {
        Ok(self.room(db, namespace).await?.quota.limits_memories())
    }

    async fn room(&self, db: Db<'_>, namespace: &str) -> Result<Arc<Room>> {
        match db {
            // One count for all that wait for it.
            Db::Pool(pool) => {
                let count = async { counted(&mut *pool.acquire().await?, namespace).await };
                self.0.try_get_with_by_ref(namespace, count).await.map_err(Error::of_all)
            }
            // Who holds a connection must not wait for a count that may wait for one.
            Db::Connection(connection) => match self.0.get(namespace).await {
                Some(room) => Ok(room),
                None => {
                    let room = counted(connection.into_inner(), namespace).await?;
                    self.0.insert(namespace.to_owned(), room.clone()).await;
                    Ok(room)
                }
            },
        }
    }

    /// Reads the quota of a namespace again at its next write.
    pub(crate) async fn forget(&self, namespace: &str) {
        self.0.invalidate(namespace).await;
    }

    /// Reads the quota of each namespace again at its next write.
    pub(crate) fn forget_all(&self) {
        self.0.invalidate_all();
    }
}

async fn counted(connection: &mut PgConnection, namespace: &str) -> Result<Arc<Room>> {
    let quota = store::get(&mut *connection, namespace).await?;
    let used = match quota.limits_memories() {
        true => store::used(connection, namespace).await?,
        false => QuotaUse::default(),
    };
    Ok(Arc::new(Room { quota, used: Mutex::new(used) }))
}
