//! The quality of a ranking on a recall: nDCG and recall of the first ten.
//!
//! nDCG is measured on the candidates that were shown or judged (Sakai 2007, condensed lists). Otherwise each candidate
//! that a new ranking brings up would count as useless, because it could not be used, and in simulations hardly any
//! better ranking was adopted. Recall is measured on all candidates: it says how much of what was used stays in reach.

use crate::sample::Sample;

/// The number of first candidates that are measured.
const FIRST: usize = 10;

/// The quality of an order.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Quality {
    pub(crate) ndcg: f64,
    pub(crate) recall: f64,
}

fn discount(place: usize) -> f64 {
    1.0 / (place as f64 + 2.0).log2()
}

/// The quality of the order by scores. Of two candidates with the same score, the one that the base ranking prefers is
/// first.
pub(crate) fn quality(sample: &Sample, scores: &[f64]) -> Quality {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b)));
    let known = order.iter().filter(|at| sample.is_judged[**at]).take(FIRST);
    let dcg: f64 = known.enumerate().map(|(place, at)| sample.gains[*at] * discount(place)).sum();
    let found: f64 = order.iter().take(FIRST).map(|at| sample.gains[*at]).sum();
    let mut best: Vec<f64> = sample.gains.iter().copied().filter(|gain| *gain > 0.0).collect();
    best.extend(std::iter::repeat_n(1.0, sample.missed));
    best.sort_by(|a, b| b.total_cmp(a));
    let ideal: f64 = best.iter().take(FIRST).enumerate().map(|(place, gain)| gain * discount(place)).sum();
    Quality { ndcg: dcg / ideal, recall: found / best.iter().sum::<f64>() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made::sample;

    #[test]
    fn a_used_candidate_counts_by_its_place() {
        let sample = sample(&[0.0, 1.0, 0.0, 1.0]);
        let best = quality(&sample, &[0.0, 3.0, 1.0, 2.0]);
        assert_eq!((best.ndcg, best.recall), (1.0, 1.0));
        let base = quality(&sample, &sample.base);
        let wanted = (1.0 / 3_f64.log2() + 1.0 / 5_f64.log2()) / (1.0 + 1.0 / 3_f64.log2());
        assert!((base.ndcg - wanted).abs() < 1e-9, "{base:?}");
    }

    #[test]
    fn what_was_missed_lowers_both() {
        let sample = Sample { missed: 1, ..sample(&[1.0, 0.0]) };
        let quality = quality(&sample, &[1.0, 0.0]);
        assert_eq!(quality.recall, 0.5);
        assert!((quality.ndcg - 1.0 / (1.0 + 1.0 / 3_f64.log2())).abs() < 1e-9, "{quality:?}");
    }

    #[test]
    fn recall_counts_unknown_candidates_and_ndcg_does_not() {
        let mut gains = [0.0; 12];
        gains[0] = 1.0;
        let mut sample = sample(&gains);
        sample.is_judged[1..].fill(false);
        let last = quality(&sample, &(0..12).map(f64::from).collect::<Vec<_>>());
        assert_eq!((last.ndcg, last.recall), (1.0, 0.0));
    }
}
