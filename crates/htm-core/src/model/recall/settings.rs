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
    /// BM25's saturation of a word that comes often.
    pub bm25_k1: f64,
    /// BM25's normalisation by length, 0 to 1.
    pub bm25_b: f64,
    /// What BM25 adds to each length and to the average, in lexemes: a turn of three words is hardly more about them
    /// than one of ten.
    pub bm25_smoothing: f64,
    /// Hybrid: the share that a turn of a conversation has of what its neighbours' scores are above the usual; 0: none.
    pub weight_neighbours: f64,
    /// Hybrid: what a node has more when the query names its speaker.
    pub weight_speaker: f64,
    /// Hybrid: what a node has more when the query names the month that it is of.
    pub weight_time: f64,
    /// Hybrid: what a node has more that contains the query's exact terms as written.
    pub weight_exact: f64,
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
            bm25_k1: 1.2,
            bm25_b: 0.75,
            bm25_smoothing: 30.0,
            weight_neighbours: 0.3,
            weight_speaker: 0.15,
            weight_time: 0.3,
            weight_exact: 0.5,
            correct: true,
            min_similarity: None,
            relevance: RelevanceWeights::default(),
            refine: RefineSettings::default(),
        }
    }
}
