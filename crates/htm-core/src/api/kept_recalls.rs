//! Recalls that are kept for feedback, written in the background.

use std::sync::Arc;
use std::time::Duration;

use moka::future::Cache;
use sqlx::PgPool;

use super::write_behind::{Unwritten, WriteBehind};
use crate::model::error::{Result, chain};
use crate::model::kept_recalls::KeptRecall;
use crate::store::connections::Connections;
use crate::store::kept_recalls as store;
use crate::store::rankings::ActiveRanking;

/// The longest time until a program sees that another ranking was chosen.
const RANKINGS_KEPT: Duration = Duration::from_secs(1);
/// The most recalls that wait while the database is unavailable; others are not kept.
const MAX_WAITING: usize = 1_000;

/// Keeps recalls in memory, and writes them in the background. A crash loses those of the last milliseconds.
#[derive(Clone, Debug)]
pub(crate) struct KeptRecalls {
    unwritten: WriteBehind<Recalls>,
    /// The rankings of namespaces as of at most a second ago, by namespace and by whether a replica said so.
    rankings: Cache<(String, bool), Arc<ActiveRanking>>,
    /// Whether any namespace has settings of learning, as of at most a second ago, by the primary.
    is_used: Cache<(), bool>,
}

impl KeptRecalls {
    pub(crate) fn start(pool: PgPool) -> Self {
        Self {
            unwritten: WriteBehind::start(pool),
            rankings: Cache::builder().max_capacity(10_000).time_to_live(RANKINGS_KEPT).build(),
            is_used: Cache::builder().max_capacity(1).time_to_live(RANKINGS_KEPT).build(),
        }
    }

    pub(crate) fn keep(&self, recall: KeptRecall) {
        self.unwritten.change(|Recalls(recalls)| {
            if recalls.len() < MAX_WAITING {
                recalls.push(recall);
            }
            true
        });
    }

    /// Writes the unwritten recalls.
    pub(crate) async fn flush(&self, pool: &PgPool) {
        self.unwritten.flush(pool).await;
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

#[derive(Debug, Default)]
struct Recalls(Vec<KeptRecall>);

impl Unwritten for Recalls {
    const GATHER: Duration = Duration::from_millis(20);
    const PAUSE: Duration = Duration::ZERO;

    /// Those that cannot be written are not kept: nothing but their feedback is lost.
    async fn write(self, pool: &PgPool) -> Option<Self> {
        if let Err(error) = try_write(&self.0, pool).await {
            let recalls = self.0.len();
            tracing::warn!(recalls, code = error.code(), error = %chain(&error), "recalls could not be kept for feedback");
        }
        None
    }

    fn put_back(&mut self, older: Self) {
        self.0.splice(0..0, older.0);
    }
}

async fn try_write(recalls: &[KeptRecall], pool: &PgPool) -> Result<()> {
    if recalls.is_empty() {
        return Ok(());
    }
    let mut tx = Connections::begin_with(pool, store::BEGIN).await?;
    for recall in recalls {
        store::keep_in_tx(&mut tx, recall).await?;
    }
    tx.commit().await?;
    Ok(())
}
