//! Changes that calls leave in memory, written in the background.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sqlx::PgPool;
use tokio::sync::Notify;
use tokio_util::task::AbortOnDropHandle;

/// Changes of one kind, and how they are written.
pub(crate) trait Unwritten: Default + Send + 'static {
    /// The time that the first change waits for others to be written with it.
    const GATHER: Duration;
    /// The minimum time between two writes of a process.
    const PAUSE: Duration;

    /// Writes the changes, of which there may be none. Those that are worth another attempt are returned.
    fn write(self, pool: &PgPool) -> impl Future<Output = Option<Self>> + Send;

    /// Adds changes that could not be written, which are older than these.
    fn put_back(&mut self, older: Self);
}

/// Keeps changes in memory, and writes them in the background. A crash loses what is unwritten.
#[derive(Debug)]
pub(crate) struct WriteBehind<T> {
    inner: Arc<Inner<T>>,
    _task: Arc<AbortOnDropHandle<()>>,
}

impl<T> Clone for WriteBehind<T> {
    fn clone(&self) -> Self {
        Self { inner: self.inner.clone(), _task: self._task.clone() }
    }
}

#[derive(Debug, Default)]
struct Inner<T> {
    unwritten: Mutex<T>,
    /// One writer at a time, so that a flush waits for a write in progress.
    writing: tokio::sync::Mutex<()>,
    changed: Notify,
}

impl<T: Unwritten> WriteBehind<T> {
    pub(crate) fn start(pool: PgPool) -> Self {
        let inner = Arc::new(Inner::<T>::default());
        let task = tokio::spawn({
            let inner = inner.clone();
            async move {
                loop {
                    inner.changed.notified().await;
                    tokio::time::sleep(T::GATHER).await;
                    inner.write(&pool).await;
                    tokio::time::sleep(T::PAUSE).await;
                }
            }
        });
        Self { inner, _task: Arc::new(AbortOnDropHandle::new(task)) }
    }

    /// Changes what is unwritten. It is written if the change says so.
    pub(crate) fn change(&self, change: impl FnOnce(&mut T) -> bool) {
        if change(&mut self.inner.unwritten.lock().unwrap_or_else(PoisonError::into_inner)) {
            self.inner.changed.notify_one();
        }
    }

    /// Writes what is unwritten. A caller that is dropped meanwhile loses nothing of others: the write goes on.
    pub(crate) async fn flush(&self, pool: &PgPool) {
        let (inner, pool) = (self.inner.clone(), pool.clone());
        let written = tokio::spawn(async move { inner.write(&pool).await }).await;
        if let Err(error) = written {
            tracing::warn!(error = &error as &dyn std::error::Error, "a write in the background did not end");
        }
    }
}

impl<T: Unwritten> Inner<T> {
    async fn write(&self, pool: &PgPool) {
        let _one_at_a_time = self.writing.lock().await;
        let taken = std::mem::take(&mut *self.unwritten.lock().unwrap_or_else(PoisonError::into_inner));
        if let Some(rest) = taken.write(pool).await {
            self.unwritten.lock().unwrap_or_else(PoisonError::into_inner).put_back(rest);
            self.changed.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use sqlx::postgres::PgPoolOptions;

    use super::*;

    static WRITTEN: Mutex<Vec<u32>> = Mutex::new(Vec::new());

    #[derive(Debug, Default)]
    struct Numbers(Vec<u32>);

    impl Unwritten for Numbers {
        const GATHER: Duration = Duration::from_secs(3_600);
        const PAUSE: Duration = Duration::ZERO;

        async fn write(self, _: &PgPool) -> Option<Self> {
            tokio::task::yield_now().await;
            // The first attempt fails for the odd ones.
            let (rest, written) = self.0.into_iter().partition(|number| number % 2 == 1);
            WRITTEN.lock().unwrap().extend::<Vec<u32>>(written);
            Some(Self(rest)).filter(|rest| !rest.0.is_empty())
        }

        fn put_back(&mut self, older: Self) {
            self.0.splice(0..0, older.0.into_iter().map(|number| number + 1));
        }
    }

    #[tokio::test]
    async fn a_flush_that_is_given_up_loses_nothing() {
        let pool = PgPoolOptions::new().connect_lazy("postgres://localhost/none").unwrap();
        let numbers = WriteBehind::<Numbers>::start(pool.clone());
        numbers.change(|Numbers(numbers)| {
            numbers.extend([2, 3]);
            true
        });
        let mut flush = Box::pin(numbers.flush(&pool));
        assert!(futures::poll!(&mut flush).is_pending());
        drop(flush);
        numbers.flush(&pool).await;
        numbers.flush(&pool).await;
        assert_eq!(*WRITTEN.lock().unwrap(), [2, 4]);
    }
}
