//! What decides how recall searches.

use crate::model::refine::RefineSettings;
use crate::model::relevance::RelevanceWeights;

/// How both legs are fused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Fusion {
    /// A weighted sum of both scores, each min–max-normalised over the union of the candidates (Bruch et al. 2023,
    /// "An Analysis of Fusion Functions for Hybrid Retrieval").
    #[default]
    Convex,
    /// The sum of 1 / (60 + rank) over the legs (Cormack et al. 2009, "Reciprocal Rank Fusion").
    Rrf,
}

/// What decides how recall searches; from the configuration.
#[derive(Clone, Debug)]
pub struct RecallSettings {
    /// Candidates that each leg retrieves; at least the limit of the query.
    pub pool: usize,
    /// Weight of the vectors in the convex sum, 0 to 1; the text has the rest.
    pub weight_vector: f64,
    /// How both legs are fused.
    pub fusion: Fusion,
    /// Candidates that the HNSW index looks at before it is asked for more.
    pub ef_search: u32,
    /// Scopes of up to this many nodes are searched exactly; so are larger ones of which the filters by tag, robot, session
    /// and metadata leave no more.
    pub exact_scope: usize,
    /// Whether words that no node has are taken for those that were meant.
    pub correct: bool,
    /// The least cosine similarity that vectors may bring, 0 to 1; none is no threshold.
    pub min_similarity: Option<f64>,
    /// What relevance is made of.
    pub relevance: RelevanceWeights,
    /// What a refined recall does beside its search.
    pub refine: RefineSettings,
}

impl Default for RecallSettings {
    fn default() -> Self {
        Self {
            pool: 100,
            weight_vector: 0.5,
            fusion: Fusion::Convex,
            ef_search: 200,
            exact_scope: 10_000,
            correct: true,
            min_similarity: None,
            relevance: RelevanceWeights::default(),
            refine: RefineSettings::default(),
        }
    }
}
