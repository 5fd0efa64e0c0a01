//! Why a hit stands where it stands.

/// What a hit's score is made of: the parts add up to it.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Explanation {
    /// The parts that are not 0.
    pub parts: Vec<ScorePart>,
}

/// A part of a score.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct ScorePart {
    /// `vector` (the similarity, normalised and weighted), `words` (BM25 of the query's words, likewise, without what the
    /// text's length alone brings), `together` (words that stand together as in the query), `exact` (exact terms, as
    /// written), `neighbours` (below 0 where they are worse than usual), `speaker`, `time`.
    pub name: &'static str,
    /// What it adds.
    pub score: f64,
}

impl Explanation {
    pub(crate) fn of(parts: &[(&'static str, f64)]) -> Self {
        let parts = parts.iter().filter(|(_, score)| *score != 0.0);
        Self { parts: parts.map(|&(name, score)| ScorePart { name, score }).collect() }
    }

    /// What the parts are together: the score.
    pub fn sum(&self) -> f64 {
        self.parts.iter().map(|part| part.score).sum()
    }
}
