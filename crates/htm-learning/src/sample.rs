//! A judged recall as the fit reads it.
//!
//! Which candidates are used depends on where they are shown: the first one is read by everybody, the tenth by few. The
//! weight of a use is divided by the probability that its rank is examined (Joachims et al. 2017, inverse propensity):
//! `(1 / rank)^½`, so a use at rank 4 counts twice that of the first one. The factor is at most 3. A candidate that was
//! used without having been shown counts as the lowest rank. If nothing was shown, somebody judged all candidates, and
//! each use counts the same.
//!
//! Only the first candidates by the base ranking are kept. A used one below them is counted as missed: all the
//! candidates that are known from there are used ones, so a fit would learn that low scores are good.

use htm_core::ranking::{FeatureVector, Learnt};

use crate::recall::{JudgedCandidate, JudgedRecall, Verdict};
use crate::solve::Vector;

/// The most candidates of a recall. 60 and 400 give the same within .003.
pub(crate) const MOST_CANDIDATES: usize = 120;

/// The exponent of the examination's probability. Measurements of people give .5 to 1; the lower one corrects less.
const EXAMINATION: f64 = 0.5;

/// The largest correction.
const MOST_CORRECTION: f64 = 3.0;

/// A judged recall, prepared.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    /// The author, by number.
    pub(crate) author: usize,
    /// The block, by number. Recalls of a block are never on both sides of a test.
    pub(crate) block: usize,
    /// The weight: the mean correction of its uses.
    pub(crate) weight: f64,
    /// The features of its candidates, the best one by the base ranking first.
    pub(crate) rows: Vec<FeatureVector>,
    /// The scores of the candidates by the base ranking.
    pub(crate) base: Vec<f64>,
    /// The corrected weight of each candidate's use.
    pub(crate) gains: Vec<f64>,
    /// The share of each candidate in the gains. The sum is 1.
    pub(crate) targets: Vec<f64>,
    /// The weight of each candidate among those that it competes with.
    pub(crate) presence: Vec<f64>,
    /// Whether each candidate was shown or judged.
    pub(crate) is_judged: Vec<bool>,
    /// The number of relevant memories that are not among the candidates.
    pub(crate) missed: usize,
}

impl Sample {
    /// Prepares a recall. None if it says nothing about the order of its candidates.
    pub(crate) fn of(recall: &JudgedRecall, base: &Learnt, author: usize, block: usize) -> Option<Self> {
        if !recall.says_something() {
            return None;
        }
        let was_shown = recall.was_shown();
        let mut scored: Vec<(f64, &JudgedCandidate)> =
            recall.candidates.iter().map(|candidate| (base.score(&candidate.features), candidate)).collect();
        scored.sort_by(|(a, x), (b, y)| b.total_cmp(a).then_with(|| order(x, y)));
        let below = scored.iter().skip(MOST_CANDIDATES).filter(|(_, it)| it.use_weight().is_some()).count();
        scored.truncate(MOST_CANDIDATES);
        let correction = |it: &JudgedCandidate| if was_shown { correction(it.shown) } else { 1.0 };
        let uses = scored.iter().map(|(_, it)| it.use_weight().unwrap_or(0.0));
        let gains: Vec<f64> =
            scored.iter().zip(uses.clone()).map(|((_, it), weight)| weight * correction(it)).collect();
        let (sum, uses): (f64, f64) = (gains.iter().sum(), uses.sum());
        if sum <= 0.0 {
            return None;
        }
        let is_judged: Vec<bool> = scored
            .iter()
            .map(|(_, it)| !was_shown || it.shown.is_some() || it.verdict != Verdict::Unknown)
            .collect();
        Some(Self {
            author,
            block,
            weight: sum / uses,
            rows: scored.iter().map(|(_, it)| it.features).collect(),
            base: scored.iter().map(|(score, _)| *score).collect(),
            targets: gains.iter().map(|gain| gain / sum).collect(),
            gains,
            presence: is_judged.iter().map(|is_judged| if *is_judged { 1.0 } else { UNSHOWN }).collect(),
            is_judged,
            missed: recall.missed + below,
        })
    }

    /// Whether all candidates were judged.
    pub(crate) fn is_complete(&self) -> bool {
        self.is_judged.iter().all(|is_judged| *is_judged)
    }

    /// The weighted sums of the candidates' features.
    pub(crate) fn weighted(&self, weights: &Vector) -> Vec<f64> {
        let sum = |row: &FeatureVector| {
            row.iter().zip(weights).map(|(feature, weight)| f64::from(*feature) * weight).sum()
        };
        self.rows.iter().map(sum).collect()
    }
}

/// The weight of a candidate that was not shown, among those that a used one competes with. With 1, the fit learns that
/// what the base ranking puts first is good, because nothing else could be used. With 0, nothing keeps useless ones down.
const UNSHOWN: f64 = 0.05;

/// The inverse of the probability that a rank is examined.
fn correction(shown: Option<u32>) -> f64 {
    shown.map_or(MOST_CORRECTION, |rank| f64::from(rank.max(1)).powf(EXAMINATION).min(MOST_CORRECTION))
}

/// An order of candidates with the same score that does not depend on the order in which they came.
fn order(a: &JudgedCandidate, b: &JudgedCandidate) -> std::cmp::Ordering {
    let features = a.features.iter().zip(&b.features).map(|(x, y)| x.total_cmp(y));
    let by_features = features.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then);
    by_features
        .then(a.shown.cmp(&b.shown))
        .then(a.use_weight().unwrap_or(0.0).total_cmp(&b.use_weight().unwrap_or(0.0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made::{recall, row};

    fn candidate(vector: f32, shown: Option<u32>, verdict: Verdict) -> JudgedCandidate {
        JudgedCandidate { features: row(vector, 0.0), shown, verdict }
    }

    fn prepared(candidates: Vec<JudgedCandidate>) -> Option<Sample> {
        Sample::of(&recall(0, candidates), &Learnt::default_ranking(), 0, 0)
    }

    #[test]
    fn a_use_at_a_low_rank_counts_more() {
        assert_eq!([Some(1), Some(4), Some(9), Some(40), None].map(correction), [1.0, 2.0, 3.0, 3.0, 3.0]);
        let used = |rank| candidate(1.0 / rank as f32, Some(rank), Verdict::Used(1.0));
        let sample = prepared(vec![used(4), used(1), candidate(0.0, None, Verdict::Unknown)]).unwrap();
        assert_eq!(sample.gains, [1.0, 2.0, 0.0]);
        assert_eq!(sample.weight, 1.5);
        assert_eq!(sample.is_judged, [true, true, false]);
        assert_eq!(sample.presence, [1.0, 1.0, UNSHOWN]);
    }

    #[test]
    fn a_recall_without_use_says_nothing() {
        let of = |verdict| prepared(vec![candidate(1.0, Some(1), verdict), candidate(0.5, Some(2), verdict)]);
        for verdict in [Verdict::Unknown, Verdict::Useless, Verdict::Used(0.0), Verdict::Used(f64::NAN)] {
            assert!(of(verdict).is_none(), "{verdict:?}");
        }
        assert!(prepared(vec![candidate(f32::NAN, None, Verdict::Used(1.0))]).is_none());
    }

    #[test]
    fn candidates_from_far_below_are_missed() {
        let used = [3, MOST_CANDIDATES + 1];
        let verdict = |at| if used.contains(&at) { Verdict::Used(1.0) } else { Verdict::Unknown };
        let candidates = (0..200).map(|at| candidate(-(at as f32), None, verdict(at))).collect();
        let sample = prepared(candidates).unwrap();
        assert_eq!((sample.rows.len(), sample.missed, sample.targets[3]), (MOST_CANDIDATES, 1, 1.0));
    }
}
