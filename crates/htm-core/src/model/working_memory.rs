//! Working memory: nodes within a token budget. Pure: no database, no clock.

use std::cmp::Ordering;
use std::collections::hash_map::Entry as Slot;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use chrono::{DateTime, Utc};

use crate::model::error::{Error, Result, codes};
use crate::model::id::NodeId;

/// A set of nodes that never exceeds its token budget.
///
/// If a node does not fit, others are evicted: the least important first, then the one added first, then the one with
/// the smallest id. They stay in long-term memory.
///
/// Lookup and touch are O(1); add, remove and each eviction are O(log n).
#[derive(Clone, Debug)]
pub struct WorkingMemory {
    max_tokens: usize,
    tokens: usize,
    /// Boxed: the table stays small enough for the processor's cache, and grows without moving entries.
    entries: HashMap<NodeId, Box<Entry>>,
    /// The nodes in the order of their eviction.
    eviction: BTreeSet<EvictionKey>,
}

/// A node in a working memory.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Entry {
    /// The node.
    pub node: NodeId,
    /// Its text.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub content: Arc<str>,
    /// The number of tokens of the text, by the encoding of contexts.
    pub tokens: usize,
    /// The importance, 1 to 10.
    pub importance: f32,
    /// The source: a file, a chat, a URL.
    pub source: Option<String>,
    /// When it happened.
    pub happened_at: DateTime<Utc>,
    /// The revision of the text, from 1.
    pub revision: i32,
    /// When it was added to this working memory.
    pub added_at: DateTime<Utc>,
    /// When it was last added or touched.
    pub accessed_at: DateTime<Utc>,
    /// The number of times that it was touched or added again.
    pub accesses: u64,
}

impl Entry {
    /// A new entry of importance 1 that happened now.
    pub fn new(node: NodeId, content: impl Into<Arc<str>>, tokens: usize, now: DateTime<Utc>) -> Self {
        Self {
            node,
            content: content.into(),
            tokens,
            importance: 1.0,
            source: None,
            happened_at: now,
            revision: 1,
            added_at: now,
            accessed_at: now,
            accesses: 0,
        }
    }

    /// Sets the importance, 1 to 10.
    pub fn importance(mut self, importance: f32) -> Self {
        self.importance = importance;
        self
    }

    fn eviction_key(&self) -> EvictionKey {
        EvictionKey { importance: self.importance, added_at: self.added_at, node: self.node }
    }
}

/// The utilisation of a working memory.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WorkingMemoryStats {
    /// Nodes in it.
    pub nodes: usize,
    /// Their tokens.
    pub tokens: usize,
    /// The token budget.
    pub max_tokens: usize,
    /// The used share of the budget, 0 to 1.
    pub utilisation: f64,
}

/// The node alone has more tokens than the budget.
pub(crate) fn oversized(node: NodeId, tokens: usize, max_tokens: usize) -> Error {
    let message =
        format!("node {node} has {tokens} tokens, more than the {max_tokens} that the working memory holds");
    Error::new(codes::NODE_OVERSIZED, message)
        .with_value("tokens", tokens)
        .with_value("max_tokens", max_tokens)
}

impl WorkingMemory {
    /// An empty working memory with a budget of `max_tokens`.
    pub fn new(max_tokens: usize) -> Self {
        Self { max_tokens, tokens: 0, entries: HashMap::new(), eviction: BTreeSet::new() }
    }

    /// Adds a node and returns the evicted nodes in order.
    ///
    /// A node that is already present is updated and counts as accessed: text, tokens, importance and source are
    /// replaced, `added_at` stays.
    ///
    /// # Errors
    /// `node_oversized` if the node alone exceeds the budget. Nothing changes then.
    pub fn add(&mut self, entry: Entry) -> Result<Vec<Entry>> {
        if entry.tokens > self.max_tokens {
            return Err(oversized(entry.node, entry.tokens, self.max_tokens));
        }
        let entry = match self.remove(entry.node) {
            None => entry,
            Some(old) => Entry {
                added_at: old.added_at,
                accessed_at: old.accessed_at.max(entry.accessed_at),
                accesses: old.accesses + 1,
                ..entry
            },
        };
        let evicted = self.evict_until(self.max_tokens - entry.tokens);
        self.tokens += entry.tokens;
        self.eviction.insert(entry.eviction_key());
        self.entries.insert(entry.node, Box::new(entry));
        Ok(evicted)
    }

    /// Marks a node as used. Returns false if it is absent.
    pub fn touch(&mut self, node: NodeId, now: DateTime<Utc>) -> bool {
        let Some(entry) = self.entries.get_mut(&node) else { return false };
        entry.accessed_at = entry.accessed_at.max(now);
        entry.accesses += 1;
        true
    }

    /// Removes a node.
    pub fn remove(&mut self, node: NodeId) -> Option<Entry> {
        let Slot::Occupied(slot) = self.entries.entry(node) else { return None };
        let entry = *slot.remove();
        self.eviction.remove(&entry.eviction_key());
        self.tokens -= entry.tokens;
        Some(entry)
    }

    /// Removes all nodes.
    pub fn clear(&mut self) {
        *self = Self::new(self.max_tokens);
    }

    /// Changes the budget and returns the evicted nodes. Those that alone exceed the budget leave first, whatever their
    /// importance: they must not take the room of others.
    pub fn resize(&mut self, max_tokens: usize) -> Vec<Entry> {
        self.max_tokens = max_tokens;
        if self.tokens <= max_tokens {
            return Vec::new();
        }
        let is_oversized = |entry: &&Entry| entry.tokens > max_tokens;
        let oversized: Vec<NodeId> =
            self.in_eviction_order().filter(is_oversized).map(|entry| entry.node).collect();
        let mut evicted: Vec<Entry> = oversized.into_iter().filter_map(|node| self.remove(node)).collect();
        evicted.extend(self.evict_until(max_tokens));
        evicted
    }

    /// Whether it holds a node.
    pub fn contains(&self, node: NodeId) -> bool {
        self.entries.contains_key(&node)
    }

    /// A node, without counting it as accessed.
    pub fn get(&self, node: NodeId) -> Option<&Entry> {
        self.entries.get(&node).map(Box::as_ref)
    }

    /// All nodes, unordered.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Entry> {
        self.entries.values().map(Box::as_ref)
    }

    /// All nodes, the next to be evicted first.
    pub fn in_eviction_order(&self) -> impl Iterator<Item = &Entry> {
        self.eviction.iter().filter_map(|key| self.get(key.node))
    }

    /// The number of nodes.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The budget.
    pub fn max_tokens(&self) -> usize {
        self.max_tokens
    }

    /// Its utilisation.
    pub fn stats(&self) -> WorkingMemoryStats {
        WorkingMemoryStats {
            nodes: self.len(),
            tokens: self.tokens,
            max_tokens: self.max_tokens,
            utilisation: self.tokens as f64 / self.max_tokens.max(1) as f64,
        }
    }

    /// Evicts nodes until at most `tokens` are used.
    fn evict_until(&mut self, tokens: usize) -> Vec<Entry> {
        let mut evicted = Vec::new();
        while self.tokens > tokens
            && let Some(key) = self.eviction.pop_first()
            && let Some(entry) = self.entries.remove(&key.node)
        {
            self.tokens -= entry.tokens;
            evicted.push(*entry);
        }
        evicted
    }
}

#[derive(Clone, Copy, Debug)]
struct EvictionKey {
    importance: f32,
    added_at: DateTime<Utc>,
    node: NodeId,
}

impl Ord for EvictionKey {
    fn cmp(&self, other: &Self) -> Ordering {
        self.importance
            .total_cmp(&other.importance)
            .then_with(|| self.added_at.cmp(&other.added_at))
            .then_with(|| self.node.cmp(&other.node))
    }
}

impl PartialOrd for EvictionKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for EvictionKey {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for EvictionKey {}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use proptest::prelude::*;

    use super::*;

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::seconds(seconds)
    }

    fn entry(node: i64, tokens: usize, importance: f32, seconds: i64) -> Entry {
        Entry::new(NodeId(node), format!("text {node}"), tokens, at(seconds)).importance(importance)
    }

    fn ids<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Vec<i64> {
        entries.into_iter().map(|entry| entry.node.0).collect()
    }

    #[test]
    fn the_least_important_leaves_first_and_of_those_the_oldest() {
        let mut memory = WorkingMemory::new(100);
        memory.add(entry(1, 30, 5.0, 0)).unwrap();
        memory.add(entry(2, 30, 1.0, 2)).unwrap();
        memory.add(entry(3, 30, 1.0, 1)).unwrap();
        assert!(memory.add(entry(4, 10, 1.0, 3)).unwrap().is_empty());
        assert_eq!(ids(&memory.add(entry(5, 40, 1.0, 4)).unwrap()), [3, 2]);
        assert_eq!(ids(memory.in_eviction_order()), [4, 5, 1]);
        let stats = memory.stats();
        assert_eq!((stats.nodes, stats.tokens, stats.utilisation), (3, 80, 0.8));
    }

    #[test]
    fn an_oversized_node_is_refused_with_its_size() {
        let mut memory = WorkingMemory::new(100);
        memory.add(entry(1, 100, 1.0, 0)).unwrap();
        let error = memory.add(entry(2, 101, 10.0, 1)).unwrap_err();
        assert_eq!(error.code(), "node_oversized");
        assert_eq!(
            error.to_string(),
            "node 2 has 101 tokens, more than the 100 that the working memory holds"
        );
        assert_eq!(ids(memory.iter()), [1]);
        assert_eq!(ids(&memory.add(entry(3, 100, 1.0, 1)).unwrap()), [1]);
    }

    #[test]
    fn what_is_there_is_refreshed() {
        let mut memory = WorkingMemory::new(100);
        memory.add(entry(1, 60, 1.0, 0)).unwrap();
        memory.add(entry(2, 40, 1.0, 1)).unwrap();
        // The edited text is longer: the other node is evicted, never the added one.
        assert_eq!(ids(&memory.add(entry(1, 61, 3.0, 5)).unwrap()), [2]);
        let refreshed = memory.get(NodeId(1)).unwrap();
        assert_eq!((refreshed.tokens, refreshed.accesses, refreshed.importance), (61, 1, 3.0));
        assert_eq!((refreshed.added_at, refreshed.accessed_at), (at(0), at(5)));
        assert_eq!(memory.stats().tokens, 61);
    }

    #[test]
    fn a_smaller_budget_lets_nodes_leave() {
        let mut memory = WorkingMemory::new(100);
        for node in 1..=5 {
            memory.add(entry(node, 20, 1.0, node)).unwrap();
        }
        assert_eq!(ids(&memory.resize(50)), [1, 2, 3]);
        assert!(memory.resize(100).is_empty());
        memory.add(entry(6, 60, 9.0, 6)).unwrap();
        assert_eq!(ids(&memory.resize(50)), [6]);
        memory.clear();
        assert!(memory.is_empty());
        assert_eq!(memory.stats(), WorkingMemory::new(50).stats());
        assert_eq!(WorkingMemory::new(0).stats().utilisation, 0.0);
    }

    #[derive(Clone, Debug)]
    enum Step {
        Add { node: i64, tokens: usize, importance: f32 },
        Touch(i64),
        Remove(i64),
    }

    fn step() -> impl Strategy<Value = Step> {
        let node = 0..20i64;
        prop_oneof![
            6 => (node.clone(), 1..=60usize, 1..=4u8)
                .prop_map(|(node, tokens, importance)| Step::Add { node, tokens, importance: importance.into() }),
            2 => node.clone().prop_map(Step::Touch),
            1 => node.prop_map(Step::Remove),
        ]
    }

    /// A model that is simple enough to be right: a list, sorted at each eviction.
    #[derive(Default)]
    struct Naive(Vec<Entry>);

    impl Naive {
        fn position(&self, node: i64) -> Option<usize> {
            self.0.iter().position(|entry| entry.node.0 == node)
        }

        fn add(&mut self, mut entry: Entry, max_tokens: usize) -> Option<Vec<Entry>> {
            if entry.tokens > max_tokens {
                return None;
            }
            if let Some(place) = self.position(entry.node.0) {
                let old = self.0.remove(place);
                (entry.added_at, entry.accesses) = (old.added_at, old.accesses + 1);
            }
            let mut evicted = Vec::new();
            while self.0.iter().map(|entry| entry.tokens).sum::<usize>() + entry.tokens > max_tokens {
                self.0.sort_by(|a, b| {
                    (a.importance, a.added_at, a.node)
                        .partial_cmp(&(b.importance, b.added_at, b.node))
                        .unwrap()
                });
                evicted.push(self.0.remove(0));
            }
            self.0.push(entry);
            Some(evicted)
        }
    }

    proptest! {
        #[test]
        fn it_does_what_the_naive_model_does(steps in prop::collection::vec(step(), 1..80), max_tokens in 1..120usize) {
            let mut memory = WorkingMemory::new(max_tokens);
            let mut model = Naive::default();
            for (number, step) in steps.into_iter().enumerate() {
                // Three steps a second: ties are broken by id.
                let seconds = number as i64 / 3;
                match step {
                    Step::Add { node, tokens, importance } => {
                        let new = entry(node, tokens, importance, seconds);
                        prop_assert_eq!(memory.add(new.clone()).ok(), model.add(new, max_tokens));
                    }
                    Step::Touch(node) => {
                        let place = model.position(node);
                        prop_assert_eq!(memory.touch(NodeId(node), at(seconds)), place.is_some());
                        if let Some(place) = place {
                            model.0[place].accessed_at = at(seconds);
                            model.0[place].accesses += 1;
                        }
                    }
                    Step::Remove(node) => {
                        let removed = model.position(node).map(|place| model.0.remove(place));
                        prop_assert_eq!(memory.remove(NodeId(node)), removed);
                    }
                }
                let mut held: Vec<Entry> = memory.iter().cloned().collect();
                held.sort_by_key(|entry| entry.node);
                model.0.sort_by_key(|entry| entry.node);
                prop_assert_eq!(&held, &model.0);
                let stats = memory.stats();
                prop_assert!(stats.tokens <= max_tokens);
                prop_assert_eq!(stats.tokens, held.iter().map(|entry| entry.tokens).sum::<usize>());
                prop_assert_eq!(memory.in_eviction_order().count(), memory.len());
            }
        }
    }
}
