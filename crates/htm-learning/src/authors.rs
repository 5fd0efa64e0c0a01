//! The weights of samples: no author has more than half of the total, as soon as there is another one.

use crate::sample::Sample;

/// The samples with their weights. The sum of the weights is the number of equally weighted samples that would say as
/// much (Kish 1965).
pub(crate) fn weighted<'a>(samples: impl IntoIterator<Item = &'a Sample>) -> Vec<(&'a Sample, f64)> {
    let samples: Vec<&Sample> = samples.into_iter().collect();
    let authors = samples.iter().map(|sample| sample.author + 1).max().unwrap_or(0);
    let mut totals = vec![0.0; authors];
    for sample in &samples {
        totals[sample.author] += sample.weight;
    }
    let total: f64 = totals.iter().sum();
    let factor = |author: usize| {
        let others = total - totals[author];
        if others > 1e-9 && totals[author] > others { others / totals[author] } else { 1.0 }
    };
    let factors: Vec<f64> = (0..authors).map(factor).collect();
    let weights: Vec<f64> = samples.iter().map(|sample| sample.weight * factors[sample.author]).collect();
    let (sum, squares): (f64, f64) =
        (weights.iter().sum(), weights.iter().map(|weight| weight * weight).sum());
    let scale = if squares > 0.0 { sum / squares } else { 0.0 };
    samples.into_iter().zip(weights.into_iter().map(|weight| weight * scale)).collect()
}
