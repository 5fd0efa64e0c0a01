//! How often each node was recalled, written behind the recalls.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use sqlx::PgPool;
use tokio::sync::Notify;
use tokio_util::task::AbortOnDropHandle;

use crate::id::NodeId;
use crate::store::accesses::{self as store, Accessed};

/// How long the first hit waits for others to be written with it.
const GATHER: Duration = Duration::from_secs(1);
/// A process writes once in this time.
const PAUSE: Duration = Duration::from_secs(4);
/// While the database is away: so many nodes are counted; others are not, until it is back.
const MAX_WAITING: usize = 100_000;
/// Nodes a statement.
const BATCH: usize = 5_000;

type Counts = HashMap<NodeId, (i64, Instant)>;

/// Counts in process and writes behind: a statement every few seconds, whatever is recalled. What a crash loses is the
/// counts of those seconds.
#[derive(Clone, Debug)]
pub(crate) struct Accesses {
    counts: Arc<Mutex<Counts>>,
    stirred: Arc<Notify>,
    _task: Arc<AbortOnDropHandle<()>>,
}

impl Accesses {
    pub(crate) fn start(pool: PgPool) -> Self {
        let counts = Arc::new(Mutex::new(Counts::new()));
        let stirred = Arc::new(Notify::new());
        let task = tokio::spawn({
            let (counts, stirred) = (counts.clone(), stirred.clone());
            async move {
                loop {
                    stirred.notified().await;
                    tokio::time::sleep(GATHER).await;
                    if !write(&counts, &pool).await {
                        stirred.notify_one();
                    }
                    tokio::time::sleep(PAUSE).await;
                }
            }
        });
        Self { counts, stirred, _task: Arc::new(AbortOnDropHandle::new(task)) }
    }

    /// Says that these were recalled now.
    pub(crate) fn count(&self, nodes: impl IntoIterator<Item = NodeId>) {
        let now = Instant::now();
        add(&self.counts, nodes.into_iter().map(|node| (node, (1, now))));
        self.stirred.notify_one();
    }

    /// Writes what was not written yet: for programs that end now.
    pub(crate) async fn flush(&self, pool: &PgPool) {
        write(&self.counts, pool).await;
    }
}

fn add(counts: &Mutex<Counts>, more: impl IntoIterator<Item = (NodeId, (i64, Instant))>) {
    let mut counts = counts.lock().unwrap_or_else(PoisonError::into_inner);
    for (node, (times, at)) in more {
        if counts.len() >= MAX_WAITING && !counts.contains_key(&node) {
            continue;
        }
        let count = counts.entry(node).or_insert((0, at));
        *count = (count.0 + times, count.1.max(at));
    }
}

/// False: what could not be written waits.
async fn write(counts: &Mutex<Counts>, pool: &PgPool) -> bool {
    let taken = std::mem::take(&mut *counts.lock().unwrap_or_else(PoisonError::into_inner));
    let accessed: Vec<Accessed> = taken
        .iter()
        .map(|(node, (times, at))| Accessed { node: *node, times: *times, ago: at.elapsed() })
        .collect();
    for (number, batch) in accessed.chunks(BATCH).enumerate() {
        if let Err(error) = store::add(pool, batch).await {
            tracing::debug!(%error, "how often nodes were recalled is not written yet");
            let unwritten = accessed.iter().skip(number * BATCH);
            add(counts, unwritten.filter_map(|it| Some((it.node, *taken.get(&it.node)?))));
            return false;
        }
    }
    true
}
