//! The loss of a ranking: ListNet's (Cao et al. 2007), the cross entropy between the share of each candidate in what was
//! used and its share by the softmax of the scores.
//!
//! For each recall, the loss is `log Σ exp(score) − Σ target × score`. It is convex in the scores. LambdaMART's pairs,
//! weighed by nDCG (Burges 2010), were tried as well: they have less recall, above all from few recalls.

use crate::sample::Sample;

/// The shares of candidates by the softmax of their scores, and the loss.
pub(crate) fn shares(sample: &Sample, scores: &[f64]) -> (Vec<f64>, f64) {
    let highest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut shares: Vec<f64> = scores
        .iter()
        .zip(&sample.presence)
        .map(|(score, presence)| presence * (score - highest).exp())
        .collect();
    let sum: f64 = shares.iter().sum();
    for share in &mut shares {
        *share /= sum;
    }
    let of_targets: f64 = scores.iter().zip(&sample.targets).map(|(score, target)| score * target).sum();
    (shares, sum.ln() + highest - of_targets)
}
