//! A member's copy of its group's working memory. Pure.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::time::Instant;

use crate::model::error::Result;
use crate::model::id::NodeId;
use crate::model::working_memory::{Entry, WorkingMemory, oversized};

/// The changes of a group's working memory up to a version.
#[derive(Clone, Debug)]
pub(crate) struct Delta {
    pub(crate) version: i64,
    /// Whether the rows are the whole working memory, not only the changes.
    pub(crate) complete: bool,
    pub(crate) rows: Vec<RowChange>,
}

/// The change of a node.
#[derive(Clone, Debug)]
pub(crate) enum RowChange {
    /// The working memory holds the node, in this state. Boxed, because it is much larger than the other variant.
    Held(Box<Held>),
    /// The working memory does not hold the node.
    Removed(NodeId),
}

/// A node of the working memory. Its tokens were counted when it was written, so that all members count alike.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    pub(crate) entry: Entry,
    /// Whether its tokens were counted by another encoding than that of this handle's contexts.
    pub(crate) foreign: bool,
}

/// The effect of a delta on a copy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Applied {
    pub(crate) added: Vec<NodeId>,
    pub(crate) removed: Vec<NodeId>,
}

impl Applied {
    pub(crate) fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty()
    }
}

/// The uses of a node since they were last written: their number and the time of the last one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Use {
    pub(crate) times: u64,
    pub(crate) last: Instant,
}

/// The copy. It follows the rows and ignores the budget, because evictions are decided once, by the writer.
pub(crate) struct Mirror {
    memory: WorkingMemory,
    seen: i64,
    foreign: HashSet<NodeId>,
    used: BTreeMap<NodeId, Use>,
}

impl Mirror {
    /// An empty copy, with no version seen.
    pub(crate) fn new() -> Self {
        Self {
            memory: WorkingMemory::new(usize::MAX),
            seen: -1,
            foreign: HashSet::new(),
            used: BTreeMap::new(),
        }
    }

    /// The version of the copy; -1 for none.
    pub(crate) fn seen(&self) -> i64 {
        self.seen
    }

    pub(crate) fn memory(&self) -> &WorkingMemory {
        &self.memory
    }

    pub(crate) fn is_foreign(&self, node: NodeId) -> bool {
        self.foreign.contains(&node)
    }

    /// Whether it holds exactly these nodes in these revisions. `live` is ordered by id.
    pub(crate) fn has_just(&self, live: &[(NodeId, i32)]) -> bool {
        let mut own: Vec<_> = self.memory.iter().map(|entry| (entry.node, entry.revision)).collect();
        own.sort_unstable();
        own == live
    }

    /// Marks the copy as possibly wrong. The next delta is complete and repairs it.
    pub(crate) fn reset(&mut self) {
        self.seen = -1;
    }

    /// Applies a delta.
    pub(crate) fn apply(&mut self, delta: Delta) -> Applied {
        let mut applied = Applied::default();
        self.memory.resize(usize::MAX);
        if delta.complete || self.seen < 0 {
            let held: HashSet<NodeId> = delta
                .rows
                .iter()
                .filter_map(|row| match row {
                    RowChange::Held(held) => Some(held.entry.node),
                    RowChange::Removed(_) => None,
                })
                .collect();
            let gone: Vec<NodeId> =
                self.memory.iter().map(|entry| entry.node).filter(|node| !held.contains(node)).collect();
            gone.into_iter().for_each(|node| self.drop_node(node, &mut applied));
        }
        for row in delta.rows {
            match row {
                RowChange::Removed(node) => self.drop_node(node, &mut applied),
                RowChange::Held(held) => self.hold(*held, &mut applied),
            }
        }
        self.seen = delta.version;
        applied
    }

    fn drop_node(&mut self, node: NodeId, applied: &mut Applied) {
        self.foreign.remove(&node);
        self.used.remove(&node);
        if self.memory.remove(node).is_some() {
            applied.removed.push(node);
        }
    }

    fn hold(&mut self, held: Held, applied: &mut Applied) {
        let Held { mut entry, foreign } = held;
        let node = entry.node;
        if foreign {
            self.foreign.insert(node);
        } else {
            self.foreign.remove(&node);
        }
        if let Some(used) = self.used.get(&node) {
            entry.accesses += used.times;
        }
        if self.memory.remove(node).is_none() {
            applied.added.push(node);
        }
        // Cannot fail: the copy has no budget here.
        let _ = self.memory.add(entry);
    }

    /// Adds nodes within a budget and returns the evicted nodes. Must be followed by the delta of that write, or by a
    /// [`reset`](Self::reset) if it was not written.
    pub(crate) fn plan(&mut self, entries: Vec<Entry>, max_tokens: usize) -> Result<Vec<NodeId>> {
        if let Some(entry) = entries.iter().find(|entry| entry.tokens > max_tokens) {
            return Err(oversized(entry.node, entry.tokens, max_tokens));
        }
        let mut evicted: Vec<NodeId> =
            self.memory.resize(max_tokens).into_iter().map(|entry| entry.node).collect();
        for entry in entries {
            evicted.extend(self.memory.add(entry)?.into_iter().map(|entry| entry.node));
        }
        // A node may be evicted for one entry and added again by a later one.
        evicted.retain(|node| !self.memory.contains(*node));
        Ok(evicted)
    }

    /// Records a use of a node. Returns false if the copy does not hold it.
    pub(crate) fn touch(&mut self, node: NodeId) -> bool {
        let there = self.memory.touch(node, chrono::Utc::now());
        if there {
            let used = self.used.entry(node).or_insert(Use { times: 0, last: Instant::now() });
            *used = Use { times: used.times + 1, last: Instant::now() };
        }
        there
    }

    /// Whether there are unwritten uses.
    pub(crate) fn has_uses(&self) -> bool {
        !self.used.is_empty()
    }

    /// The nodes of the working memory.
    pub(crate) fn nodes(&self) -> BTreeSet<NodeId> {
        self.memory.iter().map(|entry| entry.node).collect()
    }

    /// Puts back uses that were taken but could not be written.
    pub(crate) fn return_uses(&mut self, uses: Vec<(NodeId, Use)>) {
        for (node, unwritten) in uses {
            let used = self.used.entry(node).or_insert(Use { times: 0, ..unwritten });
            *used = Use { times: used.times + unwritten.times, last: used.last.max(unwritten.last) };
        }
    }

    /// Takes the uses since the last call.
    pub(crate) fn take_uses(&mut self) -> Vec<(NodeId, Use)> {
        std::mem::take(&mut self.used).into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(node: i64, tokens: usize) -> RowChange {
        let now = chrono::Utc::now();
        RowChange::Held(Box::new(Held {
            entry: Entry::new(NodeId(node), "text", tokens, now),
            foreign: node % 2 == 0,
        }))
    }

    fn delta(version: i64, complete: bool, rows: Vec<RowChange>) -> Delta {
        Delta { version, complete, rows }
    }

    fn ids(ids: &[i64]) -> Vec<NodeId> {
        ids.iter().copied().map(NodeId).collect()
    }

    #[test]
    fn a_copy_follows_the_rows() {
        let mut mirror = Mirror::new();
        let first =
            mirror.apply(delta(3, false, vec![held(1, 10), held(2, 10), RowChange::Removed(NodeId(9))]));
        assert_eq!((first.added, first.removed, mirror.seen()), (ids(&[1, 2]), vec![], 3));
        assert!(mirror.is_foreign(NodeId(2)) && !mirror.is_foreign(NodeId(1)));
        let second = mirror.apply(delta(4, false, vec![held(1, 12), RowChange::Removed(NodeId(2))]));
        assert_eq!((second.added, second.removed), (vec![], ids(&[2])));
        assert_eq!(mirror.memory().stats().tokens, 12);
        // A node that a complete delta lacks is removed, even without a row for its removal.
        let third = mirror.apply(delta(9, true, vec![held(3, 5)]));
        assert_eq!((third.added, third.removed), (ids(&[3]), ids(&[1])));
        mirror.reset();
        assert_eq!(mirror.seen(), -1);
        let mended = mirror.apply(delta(9, false, vec![held(4, 5)]));
        assert_eq!((mended.added, mended.removed), (ids(&[4]), ids(&[3])));
    }

    #[test]
    fn what_leaves_is_planned_within_the_budget() {
        let mut mirror = Mirror::new();
        mirror.apply(delta(1, false, vec![held(1, 40), held(2, 40)]));
        let entry = |node, tokens| Entry::new(NodeId(node), "text", tokens, chrono::Utc::now());
        let error = mirror.plan(vec![entry(3, 101)], 100).unwrap_err();
        assert_eq!(error.code(), "node_oversized");
        assert_eq!(mirror.plan(vec![entry(3, 30)], 100).unwrap(), ids(&[1]));
        // A smaller budget than before, and more than one at once.
        assert_eq!(mirror.plan(vec![entry(4, 30), entry(5, 30)], 60).unwrap(), ids(&[2, 3]));
        // Later deltas are not limited by the budget.
        mirror.apply(delta(2, false, vec![held(6, 1_000)]));
        assert_eq!(mirror.memory().len(), 3);
    }

    #[test]
    fn a_node_that_outgrew_the_budget_leaves_alone() {
        let mut mirror = Mirror::new();
        let entry = |node, tokens| Entry::new(NodeId(node), "text", tokens, chrono::Utc::now());
        let grown = Held { entry: entry(2, 150).importance(9.0), foreign: false };
        mirror.apply(delta(1, false, vec![held(1, 40), RowChange::Held(Box::new(grown))]));
        assert_eq!(mirror.plan(vec![entry(3, 10)], 100).unwrap(), ids(&[2]));
        assert_eq!(mirror.memory().len(), 2);
    }

    #[test]
    fn uses_are_kept_until_they_are_written() {
        let mut mirror = Mirror::new();
        mirror.apply(delta(1, false, vec![held(1, 40)]));
        assert!(mirror.touch(NodeId(1)) && mirror.touch(NodeId(1)) && !mirror.touch(NodeId(2)));
        mirror.apply(delta(2, false, vec![held(1, 40)]));
        assert_eq!(mirror.memory().get(NodeId(1)).unwrap().accesses, 2);
        let used = mirror.take_uses();
        assert_eq!((used.len(), used[0].1.times), (1, 2));
        assert!(!mirror.has_uses());
    }
}
