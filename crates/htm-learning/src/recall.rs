//! A judged recall: its candidates, with a verdict on each.

use chrono::{DateTime, Utc};
use htm_core::ranking::FeatureVector;

/// A judged recall.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedRecall {
    /// Its number. It decides the order of recalls of the same time.
    pub id: i64,
    /// The key or robot that judged it.
    pub author: String,
    /// The block that it belongs to; none for a block of an author's recalls of an hour.
    pub block: Option<String>,
    /// Its time.
    pub at: DateTime<Utc>,
    /// Its candidates, in any order.
    pub candidates: Vec<JudgedCandidate>,
    /// The number of memories that the author missed: relevant ones that are not among the candidates.
    pub missed: usize,
}

/// A candidate of a judged recall.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedCandidate {
    /// Its features.
    pub features: FeatureVector,
    /// Its rank in the answer, from 1; none if it was not in the answer.
    pub shown: Option<u32>,
    /// The author's verdict.
    pub verdict: Verdict,
}

/// A verdict on a candidate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Verdict {
    /// It was used, with a weight above 0.
    Used(f64),
    /// It was of no use.
    Useless,
    /// Nothing is known.
    #[default]
    Unknown,
}

impl JudgedCandidate {
    /// The weight of its use; none if it was not used.
    pub(crate) fn use_weight(&self) -> Option<f64> {
        match self.verdict {
            Verdict::Used(weight) if weight.is_finite() && weight > 0.0 => Some(weight.min(MOST_WEIGHT)),
            _ => None,
        }
    }
}

/// The most that one use counts, relative to the others of its recall.
const MOST_WEIGHT: f64 = 10.0;

impl JudgedRecall {
    /// Whether it says anything about the order of its candidates: one was used, and its numbers are finite.
    pub(crate) fn says_something(&self) -> bool {
        let is_finite =
            |candidate: &JudgedCandidate| candidate.features.iter().all(|feature| feature.is_finite());
        self.candidates.iter().any(|candidate| candidate.use_weight().is_some())
            && self.candidates.iter().all(is_finite)
    }

    /// Whether its answer is known. If not, all of its candidates were judged.
    pub(crate) fn was_shown(&self) -> bool {
        self.candidates.iter().any(|candidate| candidate.shown.is_some())
    }
}
