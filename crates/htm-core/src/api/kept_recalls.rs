//! Recalls that are kept for feedback, written in the background.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use moka::future::Cache;
use sqlx::PgPool;
use tokio::sync::Notify;
use tokio_util::task::AbortOnDropHandle;
use ulid::Ulid;

use crate::api::htm::Htm;
use crate::model::error::chain;
use crate::model::kept_recall::KeptRecall;
use crate::model::recall::{RecallQuery, Recalled};
use crate::store::kept_recalls as store;
use crate::store::rankings::{self, ActiveRanking};

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
        }
    }

    fn keep(&self, recall: KeptRecall) {
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

    /// Forgets what is known of rankings, after a change of them.
    pub(crate) fn forget_rankings(&self) {
        self.rankings.invalidate_all();
    }
}

/// Writes the recalls. One that cannot be written is not kept: nothing but its feedback is lost.
async fn write(unwritten: &Unwritten, pool: &PgPool) {
    let _one_at_a_time = unwritten.writing.lock().await;
    let taken = std::mem::take(&mut *unwritten.recalls.lock().unwrap_or_else(PoisonError::into_inner));
    for recall in &taken {
        if let Err(error) = store::keep(pool, recall).await {
            tracing::warn!(code = error.code(), error = %chain(&error), "a recall could not be kept for feedback");
        }
    }
}

impl Htm {
    /// The ranking of a namespace's hits as of at most a second ago. If it cannot be read, the default ranking stands in.
    pub(crate) async fn ranking_of(&self, namespaces: &[&str]) -> Arc<ActiveRanking> {
        // One ranking cannot order the hits of namespaces that learn apart.
        let [namespace] = namespaces else { return Arc::default() };
        let known = &self.kept_recalls().rankings;
        let key = ((*namespace).to_owned(), self.reads().at.is_some());
        if let Some(ranking) = known.get(&key).await {
            return ranking;
        }
        let read = match &self.reads().at {
            Some(at) => rankings::active(at.as_ref(), namespace).await,
            None => rankings::active(self.shared_pool(), namespace).await,
        };
        let ranking = Arc::new(read.unwrap_or_else(|error| {
            let mut ranking = ActiveRanking::default();
            ranking.used.fallback = Some(format!("the chosen ranking could not be read ({})", error.code()));
            ranking
        }));
        known.insert(key, ranking.clone()).await;
        ranking
    }

    /// Keeps a recall for feedback if its namespace asks for that, and gives it its id.
    pub(crate) async fn keep_recall(&self, query: &RecallQuery, recalled: &mut Recalled) {
        let Some(search) = recalled.kept.take() else { return };
        // A look that does not count is not judged either: evaluations, and searches of the program itself.
        let namespaces = self.namespaces_or_own(&query.filter.namespaces);
        let Some(namespace) = namespaces.ok().and_then(|found| Some((*found.first()?).to_owned())) else {
            return;
        };
        if !query.count_accesses || recalled.hits.is_empty() {
            return;
        }
        let id = Ulid::new().to_string();
        let ranking = self.ranking_of(&[&namespace]).await;
        self.kept_recalls().keep(KeptRecall {
            id: id.clone(),
            namespace,
            author: self.actor().into(),
            query: ranking.keeps_text.then(|| query.text.clone()),
            shown: recalled
                .hits
                .iter()
                .map(|hit| hit.followed_from.as_ref().map_or(hit.node.id, |it| it.node))
                .collect(),
            search,
        });
        recalled.recall_id = Some(id);
    }
}
