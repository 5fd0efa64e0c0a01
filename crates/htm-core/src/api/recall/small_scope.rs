//! A small scope: all of its nodes are read at once, and the candidates are selected from them in memory.

use std::collections::HashSet;

use super::search::Search;
use super::text::Text;
use crate::model::error::Result;
use crate::model::id::NodeId;
use crate::model::rank::{self, Asked, Link, TermCounter, Turn};
use crate::store::filter::Conditions;
use crate::store::recall::{Features, Reader, Size, Vectors};

/// The most nodes of a small scope.
pub(super) const MOST_NODES: usize = 2_000;

/// The most lexemes of all nodes of a small scope: reading so many takes about as long as the legs.
const MOST_LEXEMES: f64 = 60_000.0;

/// All nodes in scope.
pub(super) struct SmallScope {
    nodes: Vec<Features>,
    turns: Vec<Turn>,
}

impl Search<'_> {
    /// Reads all nodes in scope; none if they are many, or if the query needs statements of its own.
    pub(super) async fn small_scope(
        &self,
        reader: &mut Reader,
        size: &Size,
        text: &Text<'_>,
        conditions: &Conditions,
        vectors: Option<&Vectors>,
    ) -> Result<Option<SmallScope>> {
        let most = MOST_NODES.min(self.settings.recall.exact_scope);
        let is_small = size.by_now <= most as f64 && size.by_now * size.average_lexemes <= MOST_LEXEMES;
        let is_asked = !text.choosing.is_empty() || vectors.is_some();
        // Signs are searched by statements of their own.
        if !is_small || !is_asked || !self.by_text || !self.words.signs.is_empty() || self.then.is_past() {
            return Ok(None);
        }
        let counter = TermCounter::new(&text.asked);
        let found = reader.small_scope(conditions, &counter, vectors, most).await?;
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

    /// The nodes with most of the rare words, as in text.sql.
    pub(super) fn by_text(&self, asked: &Asked, pool: usize) -> Vec<NodeId> {
        let found = self.nodes.iter().filter_map(|node| Some((node.node, asked.weight_in(&node.terms)?)));
        best(found, pool).map(|(node, _)| node).collect()
    }

    /// The links of candidates to their neighbouring turns.
    pub(super) fn links(&self, candidates: &[NodeId]) -> Vec<Link> {
        rank::links(&self.turns, &candidates.iter().copied().collect())
    }

    /// The features of some nodes, for the ranking.
    pub(super) fn features(self, nodes: &[NodeId]) -> Vec<Features> {
        let nodes: HashSet<NodeId> = nodes.iter().copied().collect();
        self.nodes.into_iter().filter(|node| nodes.contains(&node.node)).collect()
    }
}

/// The entries with the greatest values; of equal ones, the newest nodes.
fn best(values: impl Iterator<Item = (NodeId, f64)>, count: usize) -> impl Iterator<Item = (NodeId, f64)> {
    let mut values: Vec<(NodeId, f64)> = values.collect();
    values.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
    values.into_iter().take(count)
}
