//! A recall that is kept so that feedback can judge it.

use crate::model::id::NodeId;
use crate::model::rankings::{RankingUsed, Trial};

/// The most candidates that are kept of a recall: the first ones by the ranking, and all hits.
pub(crate) const MOST_KEPT: usize = 100;

/// A candidate of a recall.
#[derive(Clone, Debug)]
pub(crate) struct KeptCandidate {
    pub(crate) node: NodeId,
    /// Whether the tried ranking brought it, of an interleaved list.
    pub(crate) by_trial: Option<bool>,
    /// The numbers that rankings weigh.
    pub(crate) features: Vec<f32>,
}

/// The candidates of a search in the order of the ranking, and what answered.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeptSearch {
    pub(crate) candidates: Vec<KeptCandidate>,
    pub(crate) ranking: RankingUsed,
    pub(crate) trial: Option<Trial>,
    /// Whether the tried ranking would have shown other hits or another order.
    pub(crate) differs: Option<bool>,
    /// Whether the text of the query is kept.
    pub(crate) keeps_text: bool,
}

impl KeptSearch {
    /// Adds a memory that is shown in the place of a candidate, with the numbers of that one: verdicts on it count for
    /// what was found.
    pub(crate) fn show(&mut self, shown: NodeId, found: NodeId) {
        let place = |node: NodeId| self.candidates.iter().position(|it| it.node == node);
        if let (None, Some(at)) = (place(shown), place(found)) {
            let candidate = KeptCandidate { node: shown, ..self.candidates[at].clone() };
            self.candidates.insert(at, candidate);
        }
    }
}

/// A recall.
#[derive(Clone, Debug)]
pub(crate) struct KeptRecall {
    pub(crate) id: String,
    pub(crate) namespace: String,
    pub(crate) author: String,
    pub(crate) query: Option<String>,
    /// The hits, the best first.
    pub(crate) shown: Vec<NodeId>,
    pub(crate) search: KeptSearch,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_in_the_place_of_a_candidate_is_one() {
        let candidate =
            |(node, feature)| KeptCandidate { node: NodeId(node), by_trial: None, features: vec![feature] };
        let candidates = [(1, 0.9), (2, 0.5)].map(candidate).to_vec();
        let mut search = KeptSearch { candidates, ..KeptSearch::default() };
        search.show(NodeId(7), NodeId(1));
        // It was found too, and has its own numbers.
        search.show(NodeId(2), NodeId(1));
        search.show(NodeId(8), NodeId(9));
        let kept: Vec<(i64, f32)> = search.candidates.iter().map(|it| (it.node.0, it.features[0])).collect();
        assert_eq!(kept, [(7, 0.9), (1, 0.9), (2, 0.5)]);
    }
}
