//! Recalls that are kept for feedback, written in the background.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use moka::future::Cache;
use sqlx::PgPool;
use tokio::sync::Notify;
use tokio_util::task::AbortOnDropHandle;

use crate::model::error::{Result, chain};
use crate::model::kept_recall::KeptRecall;
use crate::store::connections::Connections;
use crate::store::kept_recalls as store;
use crate::store::rankings::ActiveRanking;

/// The longest time until a program sees that another ranking was chosen.
const RANKINGS_KEPT: Duration = Duration::from_secs(1);
/// The time that the first recall waits for others to be written with it.
const GATHER: Duration = Duration::from_millis(20);
/// The most recalls that wait while the database is unavailable; others are not kept.
const MAX_WAITING: usize = 1_000;

/// The unwritten recalls, and the lock of the writer: one at a time, so that a flush waits for a write in progress.
#[derive(Debug, Default)]
struct Unwritten {
    recalls: Mutex<Vec<KeptRecall>>,
    writing: tokio::sync::Mutex<()>,
}

/// Keeps recalls in memory, and writes them in the background. A crash loses those of the last milliseconds.
#[derive(Clone, Debug)]
pub(crate) struct KeptRecalls {
    unwritten: Arc<Unwritten>,
    stirred: Arc<Notify>,
    _task: Arc<AbortOnDropHandle<()>>,
    /// The rankings of namespaces as of at most a second ago, by namespace and by whether a replica said so.
    rankings: Cache<(String, bool), Arc<ActiveRanking>>,
    /// Whether any namespace has settings of learning, as of at most a second ago, by the primary.
    is_used: Cache<(), bool>,
}

impl KeptRecalls {
    pub(crate) fn start(pool: PgPool) -> Self {
        let unwritten = Arc::new(Unwritten::default());
        let stirred = Arc::new(Notify::new());
        let task = tokio::spawn({
            let (unwritten, stirred) = (unwritten.clone(), stirred.clone());
            async move {
                loop {
                    stirred.notified().await;
                    tokio::time::sleep(GATHER).await;
                    write(&unwritten, &pool).await;
                }
            }
        });
        Self {
            unwritten,
            stirred,
            _task: Arc::new(AbortOnDropHandle::new(task)),
            rankings: Cache::builder().max_capacity(10_000).time_to_live(RANKINGS_KEPT).build(),
            is_used: Cache::builder().max_capacity(1).time_to_live(RANKINGS_KEPT).build(),
        }
    }

    pub(crate) fn keep(&self, recall: KeptRecall) {
        let mut recalls = self.unwritten.recalls.lock().unwrap_or_else(PoisonError::into_inner);
        if recalls.len() < MAX_WAITING {
            recalls.push(recall);
        }
        drop(recalls);
        self.stirred.notify_one();
    }

    /// Writes the unwritten recalls.
    pub(crate) async fn flush(&self, pool: &PgPool) {
        write(&self.unwritten, pool).await;
    }

    /// The rankings that are known.
    pub(crate) fn rankings(&self) -> &Cache<(String, bool), Arc<ActiveRanking>> {
        &self.rankings
    }

    /// Whether any namespace is known to learn.
    pub(crate) fn is_used(&self) -> &Cache<(), bool> {
        &self.is_used
    }

    /// Forgets what is known of rankings, after a change of them.
    pub(crate) fn forget_rankings(&self) {
        self.rankings.invalidate_all();
        self.is_used.invalidate_all();
    }
}

/// Writes the recalls. Those that cannot be written are not kept: nothing but their feedback is lost.
async fn write(unwritten: &Unwritten, pool: &PgPool) {
    let _one_at_a_time = unwritten.writing.lock().await;
    let taken = std::mem::take(&mut *unwritten.recalls.lock().unwrap_or_else(PoisonError::into_inner));
    if taken.is_empty() {
        return;
    }
    if let Err(error) = try_write(&taken, pool).await {
        let recalls = taken.len();
        tracing::warn!(recalls, code = error.code(), error = %chain(&error), "recalls could not be kept for feedback");
    }
}

async fn try_write(recalls: &[KeptRecall], pool: &PgPool) -> Result<()> {
    let mut tx = Connections::begin_with(pool, store::BEGIN).await?;
    for recall in recalls {
        store::keep_in_tx(&mut tx, recall).await?;
    }
    tx.commit().await?;
    Ok(())
}
