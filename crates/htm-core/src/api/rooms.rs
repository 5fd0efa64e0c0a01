//! The quotas of namespaces that were written to lately, and what these use of them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use moka::future::Cache;
use sqlx::PgConnection;

use crate::model::error::{Error, Result};
use crate::model::quota::{Quota, QuotaUse};
use crate::store::connections::Db;
use crate::store::quotas as store;

/// The time after which a namespace is counted again, and a new quota is noticed.
const KEPT: Duration = Duration::from_secs(5);

/// The least time between two looks at what other processes changed.
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

/// The quotas and the uses, by namespace.
pub(crate) struct Rooms(Cache<String, Arc<Room>>);

impl Default for Rooms {
    fn default() -> Self {
        Self(Cache::builder().max_capacity(100_000).time_to_live(KEPT).build())
    }
}

struct Room {
    /// When it was counted, by the database's clock. None: without a limit, nothing was.
    counted_at: Option<DateTime<Utc>>,
    state: Mutex<State>,
}

#[derive(Clone, Copy, Default)]
struct State {
    quota: Quota,
    /// The use that was counted, with the writes of this process since.
    written: QuotaUse,
    /// The use that this process has given back since.
    given: QuotaUse,
    /// The use that all processes had given back since, at the last look.
    gone: QuotaUse,
    looked_at: Option<Instant>,
}

impl Room {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_limited(&self) -> bool {
        self.state().quota.limits_memories()
    }

    fn take(&self, namespace: &str, more: QuotaUse) -> Result<()> {
        let mut state = self.state();
        // A look may not have seen what this process forgot after it.
        let gone = state.given.or_more(state.gone);
        if state.quota.limits_memories() {
            state.written.plus(more).less(gone).within(namespace, state.quota)?;
        }
        state.written = state.written.plus(more);
        Ok(())
    }

    fn give(&self, gone: QuotaUse) {
        let mut state = self.state();
        state.given = state.given.plus(gone);
    }

    /// Reads the quota, and what has been forgotten. It does not count again: a count misses what is being written.
    async fn look(&self, db: &mut Db<'_>, namespace: &str) -> Result<()> {
        let is_known = self.state().looked_at.is_some_and(|at| at.elapsed() < BETWEEN_LOOKS);
        let Some(counted_at) = self.counted_at.filter(|_| !is_known) else { return Ok(()) };
        let quota = store::get(db.again(), namespace).await?;
        let gone = store::forgotten_since(db.again(), namespace, counted_at).await?;
        let mut state = self.state();
        *state = State { quota, gone, looked_at: Some(Instant::now()), ..*state };
        Ok(())
    }
}

impl Rooms {
    /// Adds to the use of a namespace, unless its quota has no room, also after what other processes changed.
    pub(crate) async fn take(&self, mut db: Db<'_>, namespace: &str, more: QuotaUse) -> Result<()> {
        let room = self.room(&mut db, namespace).await?;
        if room.take(namespace, more).is_ok() {
            return Ok(());
        }
        room.look(&mut db, namespace).await?;
        room.take(namespace, more)
    }

    /// Takes from the use of a namespace what is gone from it. A namespace that is not counted yet needs no change: its
    /// count will leave it out.
    pub(crate) async fn give(&self, namespace: &str, gone: QuotaUse) {
        if let Some(room) = self.0.get(namespace).await {
            room.give(gone);
        }
    }

    /// Takes from the use of a namespace what is about to go.
    pub(crate) async fn give_ahead(&self, mut db: Db<'_>, namespace: &str, gone: QuotaUse) -> Result<()> {
        self.room(&mut db, namespace).await?.give(gone);
        Ok(())
    }

    /// Whether a namespace has a quota of memories.
    pub(crate) async fn is_limited(&self, mut db: Db<'_>, namespace: &str) -> Result<bool> {
        Ok(self.room(&mut db, namespace).await?.is_limited())
    }

    async fn room(&self, db: &mut Db<'_>, namespace: &str) -> Result<Arc<Room>> {
        match db {
            // One count for all that wait for it.
            Db::Pool(pool) => {
                let pool = *pool;
                let count = async { counted(&mut *pool.acquire().await?, namespace).await };
                self.0.try_get_with_by_ref(namespace, count).await.map_err(Error::of_all)
            }
            // Who holds a connection must not wait for a count that may wait for one.
            Db::Connection(connection) => match self.0.get(namespace).await {
                Some(room) => Ok(room),
                None => {
                    let room = counted(connection.get_mut(), namespace).await?;
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
    let counted = match quota.limits_memories() {
        true => Some(store::counted(connection, namespace).await?),
        false => None,
    };
    let (written, counted_at) = counted.unzip();
    let state = State { quota, written: written.unwrap_or_default(), ..State::default() };
    Ok(Arc::new(Room { counted_at, state: Mutex::new(state) }))
}
