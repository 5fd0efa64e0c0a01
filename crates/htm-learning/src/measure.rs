//! The quality of a ranking on a recall: nDCG and recall of the first ten.

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
    let mut order: Vec<usize> = (0..scores.len()).filter(|&at| counts(sample, at)).collect();
    order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b)));
    let gains = || order.iter().take(FIRST).map(|&at| sample.gains[at]);
    let dcg: f64 = gains().enumerate().map(|(place, gain)| gain * discount(place)).sum();
    let mut best: Vec<f64> = sample.gains.iter().copied().filter(|gain| *gain > 0.0).collect();
    best.extend(std::iter::repeat_n(1.0, sample.missed));
    best.sort_by(|a, b| b.total_cmp(a));
    let ideal: f64 = best.iter().take(FIRST).enumerate().map(|(place, gain)| gain * discount(place)).sum();
    Quality { ndcg: dcg / ideal, recall: gains().sum::<f64>() / best.iter().sum::<f64>() }
}

fn counts(sample: &Sample, at: usize) -> bool {
    sample.is_judged[at] || std::env::var("CONDENSED").is_err()
}
