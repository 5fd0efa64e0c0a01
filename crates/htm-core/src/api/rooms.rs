//! The use of quotas: those of namespaces that were written to lately, and the room that each has left.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use moka::future::Cache;
use sqlx::PgConnection;

use crate::model::error::{Error, Result};
use crate::model::quotas::{Quota, QuotaUse};
use crate::store::connections::{Connections, Db};
use crate::store::quotas as store;

/// The time after which a namespace is counted again, and a new quota is noticed.
const KEPT: Duration = Duration::from_secs(5);

/// The least time between two counts before the refusals of a pool's writes.
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
    /// One count at a time.
    counting: tokio::sync::Mutex<()>,
}

#[derive(Clone, Copy, Debug, Default)]
struct State {
    quota: Quota,
    counted: QuotaUse,
    /// All writes of this process that have ended, without what it has given back.
    changed: QuotaUse,
    /// `changed` as the count began.
    changed_before: QuotaUse,
    /// The writes of this process that have not ended.
    open: QuotaUse,
    /// When it was counted before a refusal.
    counted_again: Option<Instant>,
}

/// A count on a caller's connection, which sees what that has written and deleted, and the room that one call has taken.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    counted: Option<(Quota, QuotaUse)>,
    taken: QuotaUse,
}

impl Seen {
    /// Refuses what exceeds the quota, without what others are writing: rather that than a wrong refusal.
    async fn admit(&mut self, connection: &mut PgConnection, namespace: &str, more: QuotaUse) -> Result<()> {
        let (quota, used) = match self.counted {
            Some(counted) => counted,
            None => {
                let quota = store::get(&mut *connection, namespace).await?;
                (quota, store::used(connection, namespace).await?)
            }
        };
        self.counted = Some((quota, used));
        used.plus(self.taken).plus(more).within(namespace, quota)?;
        Ok(())
    }
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
        state.changed = state.changed.plus(self.more);
    }
}

/// Room that a transaction is about to leave. The namespace was counted before: a count within the transaction would leave
/// it out already, and it would be given back twice.
#[derive(Debug)]
#[must_use = "it is given back after the commit"]
pub(crate) struct Leaving {
    room: Arc<Room>,
    gone: QuotaUse,
}

impl Leaving {
    /// Gives it back after the commit.
    pub(crate) fn give(self) {
        self.room.give(self.gone);
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
            let since = state.changed.less(state.changed_before);
            state.counted.plus(since).plus(state.open).plus(more).within(namespace, state.quota)?;
        }
        state.open = state.open.plus(more);
        Ok(Taken { room: self.clone(), more })
    }

    /// Takes room that the count of a connection has found.
    fn take_admitted(self: &Arc<Self>, more: QuotaUse) -> Taken {
        let mut state = self.state();
        state.open = state.open.plus(more);
        Taken { room: self.clone(), more }
    }

    fn give(&self, gone: QuotaUse) {
        let mut state = self.state();
        state.changed = state.changed.less(gone);
    }

    /// Counts again, and reads the quota. Open writes of other processes are left out: rather that than a wrong refusal.
    async fn count_again(&self, pool: &dyn Connections, namespace: &str) -> Result<()> {
        let _one_at_a_time = self.counting.lock().await;
        let is_fresh = self.state().counted_again.is_some_and(|at| at.elapsed() < BETWEEN_COUNTS);
        if is_fresh {
            return Ok(());
        }
        let changed_before = self.state().changed;
        let quota = store::get(pool, namespace).await?;
        let counted = store::used(pool, namespace).await?;
        let mut state = self.state();
        *state = State { quota, counted, changed_before, counted_again: Some(Instant::now()), ..*state };
        Ok(())
    }
}

impl Rooms {
    /// Adds to the use of a namespace, unless its quota has no room, also when it is counted again. A caller's connection
    /// counts for itself: its count has rows that others do not see.
    pub(crate) async fn take(
        &self,
        mut db: Db<'_>,
        namespace: &str,
        more: QuotaUse,
        seen: &mut Seen,
    ) -> Result<Taken> {
        let room = self.room(&mut db, namespace).await?;
        let taken = match (room.take(namespace, more), &mut db) {
            (Ok(taken), _) => taken,
            (Err(_), Db::Pool(pool)) => {
                room.count_again(*pool, namespace).await?;
                room.take(namespace, more)?
            }
            (Err(_), Db::Connection(connection)) => {
                seen.admit(connection.get_mut(), namespace, more).await?;
                room.take_admitted(more)
            }
        };
        seen.taken = seen.taken.plus(more);
        Ok(taken)
    }

    /// Takes from the use of a namespace what is gone from it. A namespace that is not counted yet needs no change: its
    /// count will leave it out.
    pub(crate) async fn give(&self, namespace: &str, gone: QuotaUse) {
        if let Some(room) = self.0.get(namespace).await {
            room.give(gone);
        }
    }

    /// The room that a transaction is about to leave in a namespace.
    pub(crate) async fn leaving(&self, mut db: Db<'_>, namespace: &str, gone: QuotaUse) -> Result<Leaving> {
        Ok(Leaving { room: self.room(&mut db, namespace).await?, gone })
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
        true => store::used(connection, namespace).await?,
        false => QuotaUse::default(),
    };
    let state = State { quota, counted, ..State::default() };
    Ok(Arc::new(Room { state: Mutex::new(state), counting: tokio::sync::Mutex::default() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_kept_for_a_write_until_it_ends() {
        let quota = Quota { max_memories: Some(2), ..Quota::default() };
        let state = State { quota, ..State::default() };
        let room = Arc::new(Room { state: Mutex::new(state), counting: tokio::sync::Mutex::default() });
        let one = QuotaUse { memories: 1, bytes: 1 };
        let (first, second) = (room.take("a", one).unwrap(), room.take("a", one).unwrap());
        assert!(room.take("a", one).is_err());
        drop(first);
        assert!(room.take("a", one).is_err(), "it is written");
        // A count that began before the second ended, and saw neither.
        let changed_before = room.state().changed;
        drop(second);
        room.state().changed_before = changed_before;
        let third = room.take("a", one).unwrap();
        assert!(room.take("a", one).is_err(), "the second may not have been seen");
        room.give(one);
        drop((third, room.take("a", one).unwrap()));
    }
}
