//! The quotas of namespaces that were written to lately, and what these use of them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use moka::future::Cache;
use sqlx::PgConnection;

use crate::model::error::{Error, Result};
use crate::model::quota::{Quota, QuotaUse};
use crate::store::connections::Db;
use crate::store::quotas as store;

/// The time after which a namespace is counted again, and a new quota is noticed.
const KEPT: Duration = Duration::from_secs(5);

/// The least time between two counts before a refusal.
const BETWEEN_COUNTS: Duration = Duration::from_millis(100);

/// The quotas and the uses, by namespace.
pub(crate) struct Rooms(Cache<String, Arc<Room>>);

impl Default for Rooms {
    fn default() -> Self {
        Self(Cache::builder().max_capacity(100_000).time_to_live(KEPT).build())
    }
}

#[derive(Debug)]
struct Room {
    state: Mutex<State>,
    /// One count at a time for those without a connection.
    counting: tokio::sync::Mutex<()>,
}

#[derive(Clone, Copy, Debug, Default)]
struct State {
    quota: Quota,
    /// The use that was counted, with the writes of this process that ended since.
    written: QuotaUse,
    /// The writes of this process that have not ended.
    open: QuotaUse,
    /// The use that this process has given back since the count.
    given: QuotaUse,
    /// When it was counted before a refusal.
    counted_again: Option<Instant>,
}

/// Room that a write has taken, until it ends. A write that was dropped or undone is found by the count before the next
/// refusal.
#[derive(Debug)]
#[must_use = "a count misses what is being written, unless the room is kept until then"]
pub(crate) struct Taken {
    room: Arc<Room>,
    more: QuotaUse,
}

impl Drop for Taken {
    fn drop(&mut self) {
        let mut state = self.room.state();
        state.open = state.open.less(self.more);
        state.written = state.written.plus(self.more);
    }
}

impl Room {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_limited(&self) -> bool {
        self.state().quota.limits_memories()
    }

    fn take(self: &Arc<Self>, namespace: &str, more: QuotaUse) -> Result<Taken> {
        let mut state = self.state();
        if state.quota.limits_memories() {
            state.written.plus(state.open).plus(more).less(state.given).within(namespace, state.quota)?;
        }
        state.open = state.open.plus(more);
        Ok(Taken { room: self.clone(), more })
    }

    fn give(&self, gone: QuotaUse) {
        let mut state = self.state();
        state.given = state.given.plus(gone);
    }

    /// Counts again, and reads the quota. What ends or goes at the same moment may be left out: rather that than a wrong
    /// refusal.
    async fn count_again(&self, db: &mut Db<'_>, namespace: &str) -> Result<()> {
        let _one_at_a_time = match db {
            Db::Pool(_) => Some(self.counting.lock().await),
            // Who holds a connection must not wait for a count that may wait for one.
            Db::Connection(_) => None,
        };
        let is_fresh = self.state().counted_again.is_some_and(|at| at.elapsed() < BETWEEN_COUNTS);
        if is_fresh {
            return Ok(());
        }
        let given = self.state().given;
        let quota = store::get(db.again(), namespace).await?;
        let written = store::used(db.again(), namespace).await?;
        let mut state = self.state();
        let given = state.given.less(given);
        *state = State { quota, written, given, open: state.open, counted_again: Some(Instant::now()) };
        Ok(())
    }
}

impl Rooms {
    /// Adds to the use of a namespace, unless its quota has no room, also when it is counted again.
    pub(crate) async fn take(&self, mut db: Db<'_>, namespace: &str, more: QuotaUse) -> Result<Taken> {
        let room = self.room(&mut db, namespace).await?;
        if let Ok(taken) = room.take(namespace, more) {
            return Ok(taken);
        }
        room.count_again(&mut db, namespace).await?;
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
    let written = match quota.limits_memories() {
        true => store::used(connection, namespace).await?,
        false => QuotaUse::default(),
    };
    let state = State { quota, written, ..State::default() };
    Ok(Arc::new(Room { state: Mutex::new(state), counting: tokio::sync::Mutex::default() }))
}
