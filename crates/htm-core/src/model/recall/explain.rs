//! The explanation of a hit's place.

/// The parts of the value that orders a hit. [`Scores::score`](crate::Scores::score) is in proportion to their sum.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Explanation {
    /// The parts that are not 0.
    pub parts: Vec<ScorePart>,
}

/// A part of the value that orders a hit.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ScorePart {
    /// `vector` (the similarity, normalised and weighted), `words` (BM25, normalised and weighted, corrected for
    /// length), `together` (adjacent words, as in the query), `exact` (exact terms as written), `neighbours` (negative
    /// if they are below average), `speaker`, `time`.
    pub name: &'static str,
    /// Its contribution.
    pub score: f64,
}

impl Explanation {
    pub(crate) fn of(parts: &[(&'static str, f64)]) -> Self {
        let parts = parts.iter().filter(|(_, score)| *score != 0.0);
        Self { parts: parts.map(|&(name, score)| ScorePart { name, score }).collect() }
    }

    /// The sum of the parts: the value that orders the hits.
    pub fn sum(&self) -> f64 {
        self.parts.iter().map(|part| part.score).sum()
    }
}
