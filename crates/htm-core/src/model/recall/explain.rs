//! The explanation of a hit's place.

use std::borrow::Cow;

/// The parts of the value that orders a hit. [`Scores::score`](crate::Scores::score) is in proportion to their sum, unless
/// relevance, the ranks in several lists or a re-ranker order the hits.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Explanation {
    /// The parts that are not 0.
    pub parts: Vec<ScorePart>,
}

/// A part of the value that orders a hit.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ScorePart {
    /// `vector` (the similarity, normalised and weighted), `words` (BM25, normalised and weighted, corrected for
    /// length), `together` (adjacent words, as in the query), `exact` (exact terms as written), `neighbours` (negative
    /// if they are below average), `speaker`, `time`. Of relevance, its signals; of several lists, the share of each: a
    /// model, `query`, `phrasing 1`; of re-ranked hits, `re-ranker`.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub name: Cow<'static, str>,
    /// Its contribution.
    pub score: f64,
}

impl Explanation {
    pub(crate) fn of<N: Clone + Into<Cow<'static, str>>>(parts: &[(N, f64)]) -> Self {
        let parts = parts.iter().filter(|(_, score)| *score != 0.0);
        Self {
            parts: parts
                .map(|(name, score)| ScorePart { name: name.clone().into(), score: *score })
                .collect(),
        }
    }

    /// The sum of the parts: the value that orders the hits.
    pub fn sum(&self) -> f64 {
        // The sum of an empty iterator is -0.
        self.parts.iter().fold(0.0, |sum, part| sum + part.score)
    }
}
