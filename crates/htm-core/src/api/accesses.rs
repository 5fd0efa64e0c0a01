//! Recall counts of nodes, written in the background.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use sqlx::PgPool;
use tokio::sync::Notify;
use tokio_util::task::AbortOnDropHandle;

use crate::model::error::chain;
use crate::model::id::NodeId;
use crate::model::nodes::Node;
use crate::store::accesses::{self as store, Accessed};

/// The time that the first hit waits for others to be written with it.
const GATHER: Duration = Duration::from_secs(1);
/// The minimum time between two writes of a process.
const PAUSE: Duration = Duration::from_secs(4);
/// The most nodes that are counted while the database is unavailable; others are not counted until it is back.
const MAX_WAITING: usize = 100_000;
/// The number of nodes in a statement.
const BATCH: usize = 5_000;

/// The unwritten counts, and the lock of the writer: one at a time, so that a flush waits for a write in progress.
#[derive(Debug, Default)]
struct Unwritten {
    counts: Mutex<Counts>,
    writing: tokio::sync::Mutex<()>,
}

type Counts = HashMap<NodeId, Count>;

#[derive(Clone, Debug)]
struct Count {
    namespace: String,
    times: i64,
    last: Instant,
}

/// Counts in memory and writes in the background: a statement every few seconds, however much is recalled. A crash
/// loses the counts of those seconds.
#[derive(Clone, Debug)]
pub(crate) struct Accesses {
    unwritten: Arc<Unwritten>,
    stirred: Arc<Notify>,
    _task: Arc<AbortOnDropHandle<()>>,
}

impl Accesses {
    pub(crate) fn start(pool: PgPool) -> Self {
        let unwritten = Arc::new(Unwritten::default());
        let stirred = Arc::new(Notify::new());
        let task = tokio::spawn({
            let (unwritten, stirred) = (unwritten.clone(), stirred.clone());
            async move {
                loop {
                    stirred.notified().await;
                    tokio::time::sleep(GATHER).await;
                    if !write(&unwritten, &pool).await {
                        stirred.notify_one();
                    }
                    tokio::time::sleep(PAUSE).await;
                }
            }
        });
        Self { unwritten, stirred, _task: Arc::new(AbortOnDropHandle::new(task)) }
    }

    /// Counts a recall of each node, as of now.
    pub(crate) fn count<'a>(&self, nodes: impl IntoIterator<Item = &'a Node>) {
        let last = Instant::now();
        let once = |node: &Node| (node.id, Count { namespace: node.namespace.clone(), times: 1, last });
        add(&self.unwritten.counts, nodes.into_iter().map(once));
        self.stirred.notify_one();
    }

    /// Writes the unwritten counts; for programs that are about to end.
    pub(crate) async fn flush(&self, pool: &PgPool) {
        write(&self.unwritten, pool).await;
    }
}

fn add(counts: &Mutex<Counts>, more: impl IntoIterator<Item = (NodeId, Count)>) {
    let mut counts = counts.lock().unwrap_or_else(PoisonError::into_inner);
    for (node, more) in more {
        if let Some(count) = counts.get_mut(&node) {
            count.times += more.times;
            count.last = count.last.max(more.last);
        } else if counts.len() < MAX_WAITING {
            counts.insert(node, more);
        }
    }
}

/// Writes the counts. False if that failed; then they wait for the next write.
async fn write(unwritten: &Unwritten, pool: &PgPool) -> bool {
    let _one_at_a_time = unwritten.writing.lock().await;
    let counts = &unwritten.counts;
    let taken = std::mem::take(&mut *counts.lock().unwrap_or_else(PoisonError::into_inner));
    let accessed: Vec<Accessed> = taken
        .iter()
        .map(|(node, count)| Accessed {
            node: *node,
            namespace: count.namespace.clone(),
            times: count.times,
            ago: count.last.elapsed(),
        })
        .collect();
    for (number, batch) in accessed.chunks(BATCH).enumerate() {
        if let Err(error) = store::add(pool, batch).await {
            tracing::debug!(error = %chain(&error), "how often nodes were recalled is not written yet");
            let rest = accessed.iter().skip(number * BATCH);
            add(counts, rest.filter_map(|it| Some((it.node, taken.get(&it.node)?.clone()))));
            return false;
        }
    }
    true
}
