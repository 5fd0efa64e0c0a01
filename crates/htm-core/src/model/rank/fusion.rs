//! The fusion of both legs to one score.

use super::bm25::Score;
use super::{Member, Ranking};
use crate::model::recall::Fusion;
use crate::model::refine::fuse::DAMPING;

/// The lexemes of a short text, a turn. Above them, BM25 loses the gain of length alone.
const SHORT: f64 = 64.0;

/// The lexemes above which this loss no longer grows.
const LONG: f64 = 128.0;

/// The part of each leg in a member's score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Fused {
    /// None if only vectors are searched and it has no embedding.
    pub(super) vector: Option<f64>,
    pub(super) text: f64,
}

impl Fused {
    pub(super) fn base(&self) -> Option<f64> {
        self.vector.map(|vector| vector + self.text)
    }
}

/// The bounds of the candidates' scores.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bounds {
    low: f64,
    high: f64,
    best_text: f64,
    /// The growth of BM25 with the length. Long texts have more of any query's words, and would crowd out short ones.
    by_length: f64,
}

impl Bounds {
    pub(super) fn of(scored: &[(Member, Score)]) -> Self {
        let candidates = || scored.iter().filter(|(member, _)| member.is_candidate());
        let similarities = || candidates().filter_map(|(member, _)| member.similarity);
        let pairs: Vec<(f64, f64)> =
            candidates().map(|(member, text)| (extent(member), text.total)).collect();
        Self {
            low: similarities().fold(f64::INFINITY, f64::min),
            high: similarities().fold(f64::NEG_INFINITY, f64::max),
            best_text: candidates().map(|(_, text)| text.total).fold(0.0, f64::max),
            by_length: slope(&pairs).max(0.0),
        }
    }

    pub(super) fn fuse(&self, ranking: &Ranking, member: &Member, text: &Score) -> Fused {
        let by_rank = |rank: Option<i64>| rank.map_or(0.0, |rank| 1.0 / (DAMPING + rank as f64));
        match (ranking.by_vector, ranking.by_text, ranking.fusion) {
            (true, false, _) => Fused { vector: member.similarity, text: 0.0 },
            (false, _, _) => Fused { vector: Some(0.0), text: text.total },
            (true, true, Fusion::Rrf) => {
                Fused { vector: Some(by_rank(member.vector_rank)), text: by_rank(member.text_rank) }
            }
            (true, true, Fusion::Convex) => {
                let are_compared = self.high > self.low;
                // The words stand for both legs if only the vector of this one is unknown. Counted as the least similar, it
                // would be behind noise.
                let is_unknown = are_compared && member.similarity.is_none();
                let weight = if is_unknown { 0.0 } else { ranking.weight_vector };
                let vector = member
                    .similarity
                    .filter(|_| are_compared)
                    .map_or(0.0, |similarity| (similarity - self.low) / (self.high - self.low));
                let words = match self.best_text > 0.0 {
                    true => (text.total - self.by_length * extent(member)) / self.best_text,
                    false => 0.0,
                };
                Fused { vector: Some(weight * vector), text: (1.0 - weight) * words }
            }
        }
    }
}

/// The length relative to a turn's, as a logarithm from 0.
fn extent(member: &Member) -> f64 {
    (f64::from(member.terms.lexemes).clamp(SHORT, LONG) / SHORT).ln()
}

/// The slope of the regression line through points; 0 if all have the same x.
fn slope(points: &[(f64, f64)]) -> f64 {
    let count = points.len() as f64;
    let (mean_x, mean_y) = (
        points.iter().map(|(x, _)| x).sum::<f64>() / count,
        points.iter().map(|(_, y)| y).sum::<f64>() / count,
    );
    let sxx: f64 = points.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
    let sxy: f64 = points.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    if sxx > 1e-12 { sxy / sxx } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slope_is_that_of_the_line() {
        assert_eq!(slope(&[(0.0, 1.0), (1.0, 3.0), (2.0, 5.0)]), 2.0);
        assert_eq!(slope(&[(1.0, 1.0), (1.0, 3.0)]), 0.0);
        assert_eq!(slope(&[]), 0.0);
    }
}
