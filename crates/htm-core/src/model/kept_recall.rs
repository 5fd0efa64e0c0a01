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
