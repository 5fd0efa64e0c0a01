//! Recall counts of nodes, written in the background.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use sqlx::PgPool;

use super::write_behind::{Unwritten, WriteBehind};
use crate::model::error::chain;
use crate::model::id::NodeId;
use crate::model::nodes::Node;
use crate::store::accesses::{self as store, Accessed};

/// The most nodes that are counted while the database is unavailable; others are not counted until it is back.
const MAX_WAITING: usize = 100_000;
/// The number of nodes in a statement.
const BATCH: usize = 5_000;

/// Recall counts: a statement every few seconds, however much is recalled. A crash loses those of these seconds.
pub(crate) type Accesses = WriteBehind<Counts>;

#[derive(Debug, Default)]
pub(crate) struct Counts(HashMap<NodeId, Count>);

#[derive(Clone, Debug)]
struct Count {
    namespace: String,
    times: i64,
    last: Instant,
}

impl Accesses {
    /// Counts a recall of each node, as of now.
    pub(crate) fn count<'a>(&self, nodes: impl IntoIterator<Item = &'a Node>) {
        let last = Instant::now();
        let once = |node: &Node| (node.id, Count { namespace: node.namespace.clone(), times: 1, last });
        self.change(|counts| {
            counts.add(nodes.into_iter().map(once));
            true
        });
    }
}

impl Counts {
    fn add(&mut self, more: impl IntoIterator<Item = (NodeId, Count)>) {
        for (node, more) in more {
            if let Some(count) = self.0.get_mut(&node) {
                count.times += more.times;
                count.last = count.last.max(more.last);
            } else if self.0.len() < MAX_WAITING {
                self.0.insert(node, more);
            }
        }
    }
}

impl Unwritten for Counts {
    const GATHER: Duration = Duration::from_secs(1);
    const PAUSE: Duration = Duration::from_secs(4);

    async fn write(mut self, pool: &PgPool) -> Option<Self> {
        let accessed: Vec<Accessed> = self
            .0
            .iter()
            .map(|(node, count)| Accessed {
                node: *node,
                namespace: count.namespace.clone(),
                times: count.times,
                ago: count.last.elapsed(),
            })
            .collect();
        for batch in accessed.chunks(BATCH) {
            if let Err(error) = store::add(pool, batch).await {
                tracing::debug!(error = %chain(&error), "how often nodes were recalled is not written yet");
                return Some(self);
            }
            for written in batch {
                self.0.remove(&written.node);
            }
        }
        None
    }

    fn put_back(&mut self, older: Self) {
        self.add(older.0);
    }
}
