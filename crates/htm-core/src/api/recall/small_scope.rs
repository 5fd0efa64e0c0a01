//! A scope of few nodes: all are read at once, and candidates are chosen from them here.

use std::collections::HashSet;

use super::retrieval::Wanted;
use super::search::Search;
use crate::model::error::Result;
use crate::model::id::NodeId;
use crate::model::rank::{self, Asked, Link, TermCounter, Turn};
use crate::store::recall::{Features, Reader, Size};

/// So many nodes are few, unless …
const MOST_NODES: usize = 2_000;

/// … their texts are long: so many lexemes of all nodes together are read about as fast as the legs run.
const MOST_LEXEMES: f64 = 60_000.0;

/// All nodes in scope.
pub(super) struct SmallScope {
    nodes: Vec<Features>,
    turns: Vec<Turn>,
}

impl Search<'_> {
    /// All nodes in scope, where these are few.
    pub(super) async fn small_scope(
        &self,
        reader: &mut Reader,
        size: &Size,
        wanted: Wanted<'_>,
    ) -> Result<Option<SmallScope>> {
        let most = MOST_NODES.min(self.settings.exact_scope);
        let is_small = size.by_now <= most as f64 && size.by_now * size.average_lexemes <= MOST_LEXEMES;
        let is_asked = !wanted.text.choosing.is_empty() || wanted.vectors.is_some();
        // Signs are looked for by statements of their own.
        if !is_small || !is_asked || !self.by_text || !self.words.signs.is_empty() {
            return Ok(None);
        }
        let counter = TermCounter::new(&wanted.text.asked);
        let found = reader.small_scope(wanted.conditions, &counter, wanted.vectors, most).await?;
        Ok(found.map(|found| {
            let (nodes, turns): (Vec<_>, Vec<_>) = found.into_iter().unzip();
            SmallScope { nodes, turns: turns.into_iter().flatten().collect() }
        }))
    }
}

impl SmallScope {
    /// The nearest nodes, each with its similarity.
    pub(super) fn by_vector(&self, pool: usize) -> Vec<(NodeId, f64)> {
        let near = self.nodes.iter().filter_map(|node| Some((node.node, node.similarity?)));
        best(near, pool).collect()
    }

    /// The nodes with most of the rare words, as text.sql has them.
    pub(super) fn by_text(&self, asked: &Asked, pool: usize) -> Vec<NodeId> {
        let found = self.nodes.iter().filter_map(|node| Some((node.node, asked.weight_in(&node.terms)?)));
        best(found, pool).map(|(node, _)| node).collect()
    }

    /// The turns beside candidates.
    pub(super) fn links(&self, candidates: &[NodeId]) -> Vec<Link> {
        rank::links(&self.turns, &candidates.iter().copied().collect())
    }

    /// What the ranking has to know of some nodes.
    pub(super) fn features(self, nodes: &[NodeId]) -> Vec<Features> {
        let nodes: HashSet<NodeId> = nodes.iter().copied().collect();
        self.nodes.into_iter().filter(|node| nodes.contains(&node.node)).collect()
    }
}

/// The greatest, the newest of what is equal.
fn best(values: impl Iterator<Item = (NodeId, f64)>, count: usize) -> impl Iterator<Item = (NodeId, f64)> {
    let mut values: Vec<(NodeId, f64)> = values.collect();
    values.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
    values.into_iter().take(count)
}
