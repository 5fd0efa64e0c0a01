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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made::sample;

    fn shares(authors: &[usize]) -> Vec<f64> {
        let samples: Vec<Sample> =
            authors.iter().map(|&author| Sample { author, ..sample(&[1.0, 0.0]) }).collect();
        let weighted = weighted(&samples);
        let total: f64 = weighted.iter().map(|(_, weight)| weight).sum();
        let of = |author| {
            weighted.iter().filter(|(it, _)| it.author == author).map(|(_, weight)| weight / total).sum()
        };
        (0..=2).map(of).collect()
    }

    #[test]
    fn no_author_has_more_than_half() {
        assert_eq!(shares(&[0, 0, 0, 0]), [1.0, 0.0, 0.0]);
        assert_eq!(shares(&[0, 0, 0, 1]), [0.5, 0.5, 0.0]);
        let three = shares(&[0, 0, 0, 0, 0, 0, 1, 1, 2, 2]);
        assert!((three[0] - 0.5).abs() < 1e-9 && (three[1] - 0.25).abs() < 1e-9, "{three:?}");
    }

    #[test]
    fn unequal_weights_say_less() {
        let total = |authors: &[usize]| {
            let samples: Vec<Sample> =
                authors.iter().map(|&author| Sample { author, ..sample(&[1.0, 0.0]) }).collect();
            weighted(&samples).iter().map(|(_, weight)| weight).sum::<f64>()
        };
        assert!((total(&[0, 1, 0, 1]) - 4.0).abs() < 1e-9);
        assert!((total(&[0, 0, 0, 1]) - 3.0).abs() < 1e-9);
    }
}
