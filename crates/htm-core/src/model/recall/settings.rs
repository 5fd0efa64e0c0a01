//! The settings of recall.

use std::time::Duration;

use crate::model::refine::RefineSettings;
use crate::model::relevance::RelevanceWeights;

/// The fusion of the vector list and the text list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Fusion {
    /// A weighted sum of both scores, each min–max-normalised over the union of the candidates (Bruch et al. 2023,
    /// "An Analysis of Fusion Functions for Hybrid Retrieval").
    #[default]
    Convex,
    /// The sum of 1 / (60 + rank) over the lists (Cormack et al. 2009, "Reciprocal Rank Fusion").
    Rrf,
}

/// The settings of recall. The configuration has `ef_search`, spelling and the least similarity; programs may set the
/// rest.
#[derive(Clone, Debug)]
pub struct RecallSettings {
    /// Candidates of each list; at least the limit of the query. Vectors alone need no more than the limit where they come in
    /// order of distance.
    pub pool: usize,
    /// Weight of the vectors in the convex sum, 0 to 1; the text has the rest.
    pub weight_vector: f64,
    /// The fusion of both lists.
    pub fusion: Fusion,
    /// Candidates that the vector index examines before it is asked for more.
    pub ef_search: u32,
    /// The most nodes that are compared exactly: those of the searched namespaces and time, or those that pass the
    /// other filters and have the required phrases.
    pub exact_scope: usize,
    /// Whether unknown words are spell-corrected.
    pub correct: bool,
    /// The least cosine similarity of vector hits, 0 to 1; none: no threshold.
    pub min_similarity: Option<f64>,
    /// The timeout of the query's embedding; after it, full text answers alone.
    pub embed_timeout: Duration,
    /// The weights of relevance.
    pub relevance: RelevanceWeights,
    /// The settings of refinement.
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
            embed_timeout: Duration::from_secs(30),
            relevance: RelevanceWeights::default(),
            refine: RefineSettings::default(),
        }
    }
}
