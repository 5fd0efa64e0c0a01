//! The fit of the weights of the features: ridge regression towards the weights of the ranking that it starts from.

use crate::sample::Sample;
use crate::softmax::shares;
use crate::solve::{COUNT, Matrix, Vector, solve};

/// The strength of the pull towards the weights that the fit starts from, in recalls. Each feature is measured by its
/// standard deviation among the candidates of a recall. 10 to 100 give nearly the same from 150 recalls on; from 50, 10 to 30.
const PULL: f64 = 30.0;

/// The factors from scores to logits that are tried.
const SHARPNESS: [f64; 9] = [3.0, 4.0, 6.0, 8.0, 10.0, 12.0, 15.0, 20.0, 25.0];

const MOST_STEPS: usize = 30;
const MOST_HALVINGS: usize = 12;

/// Weights that were fitted.
#[derive(Clone, Debug)]
pub(crate) struct Linear {
    /// The weights, on the scale of the scores.
    pub(crate) weights: Vector,
    /// The factor from scores to logits.
    pub(crate) sharpness: f64,
}

impl Linear {
    /// Fits weights to samples, each with its own weight, from those of `base`.
    pub(crate) fn fit(samples: &[(&Sample, f64)], base: &Vector) -> Self {
        let sharpness = sharpness(samples, base);
        let prior = base.map(|weight| weight * sharpness);
        let pull = deviations(samples).map(|deviation| PULL * deviation * deviation);
        let mut weights = prior;
        let mut loss = penalised(samples, &weights, &prior, &pull);
        for _ in 0..MOST_STEPS {
            let Some(step) = newton(samples, &weights, &prior, &pull) else { break };
            let moved = (0..MOST_HALVINGS).find_map(|halving| {
                let rate = 0.5_f64.powi(halving as i32);
                let next: Vector = std::array::from_fn(|at| weights[at] - rate * step[at]);
                let next_loss = penalised(samples, &next, &prior, &pull);
                (next_loss < loss).then_some((next, next_loss))
            });
            let Some((next, next_loss)) = moved else { break };
            let gain = loss - next_loss;
            (weights, loss) = (next, next_loss);
            if gain < 1e-6 {
                break;
            }
        }
        Self { weights: weights.map(|weight| weight / sharpness), sharpness }
    }

    /// The scores of a sample's candidates.
    pub(crate) fn scores(&self, sample: &Sample) -> Vec<f64> {
        sample.weighted(&self.weights)
    }
}

/// The factor by which the scores of `base` explain the samples best.
fn sharpness(samples: &[(&Sample, f64)], base: &Vector) -> f64 {
    let loss = |factor: f64| loss(samples, &base.map(|weight| weight * factor));
    let losses = SHARPNESS.map(|factor| (factor, loss(factor)));
    losses.into_iter().min_by(|a, b| a.1.total_cmp(&b.1)).map_or(SHARPNESS[0], |(factor, _)| factor)
}

/// The standard deviation of each feature among the candidates of a recall.
fn deviations(samples: &[(&Sample, f64)]) -> Vector {
    let mut squares = [0.0; COUNT];
    let mut count = 0.0;
    for (sample, _) in samples {
        let rows = &sample.rows;
        count += rows.len() as f64;
        for (at, square) in squares.iter_mut().enumerate() {
            let mean = rows.iter().map(|row| f64::from(row[at])).sum::<f64>() / rows.len() as f64;
            *square += rows.iter().map(|row| (f64::from(row[at]) - mean).powi(2)).sum::<f64>();
        }
    }
    squares.map(|square| (square / f64::max(count, 1.0)).sqrt().max(LEAST_DEVIATION))
}

/// The least deviation of a feature. A feature that hardly differs is not weighed.
const LEAST_DEVIATION: f64 = 0.01;

fn loss(samples: &[(&Sample, f64)], weights: &Vector) -> f64 {
    samples.iter().map(|(sample, weight)| weight * shares(sample, &sample.weighted(weights)).1).sum()
}

fn penalised(samples: &[(&Sample, f64)], weights: &Vector, prior: &Vector, pull: &Vector) -> f64 {
    let penalty: f64 = (0..COUNT).map(|at| 0.5 * pull[at] * (weights[at] - prior[at]).powi(2)).sum();
    loss(samples, weights) + penalty
}

/// Newton's step: the inverse of the loss's curvature, times its slope.
fn newton(samples: &[(&Sample, f64)], weights: &Vector, prior: &Vector, pull: &Vector) -> Option<Vector> {
    let mut slope: Vector = std::array::from_fn(|at| pull[at] * (weights[at] - prior[at]));
    let mut curvature: Matrix = [[0.0; COUNT]; COUNT];
    for (at, row) in curvature.iter_mut().enumerate() {
        row[at] = pull[at];
    }
    for (sample, of_sample) in samples {
        let (shares, _) = shares(sample, &sample.weighted(weights));
        let mut mean = [0.0; COUNT];
        for ((features, share), target) in sample.rows.iter().zip(&shares).zip(&sample.targets) {
            let features = features.map(f64::from);
            for at in 0..COUNT {
                slope[at] += of_sample * (share - target) * features[at];
                mean[at] += share * features[at];
            }
            if *share < NEGLIGIBLE {
                continue;
            }
            for row in 0..COUNT {
                let of_row = of_sample * share * features[row];
                for column in 0..=row {
                    curvature[row][column] += of_row * features[column];
                }
            }
        }
        for row in 0..COUNT {
            for column in 0..=row {
                curvature[row][column] -= of_sample * mean[row] * mean[column];
            }
        }
    }
    solve(&curvature, &slope)
}

/// A share that hardly adds to the curvature.
const NEGLIGIBLE: f64 = 1e-7;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made::{HIDDEN, World, recalls};
    use htm_core::ranking::Learnt;

    fn fitted(world: World, count: i64) -> Vector {
        let base = Learnt::default_ranking();
        let recalls = recalls(world, count, 3);
        let samples: Vec<Sample> = recalls.iter().filter_map(|it| Sample::of(it, &base, 0, 0)).collect();
        let weighted: Vec<(&Sample, f64)> = samples.iter().map(|sample| (sample, 1.0)).collect();
        Linear::fit(&weighted, &std::array::from_fn(|at| base.weights[at])).weights
    }

    #[test]
    fn a_feature_that_explains_gets_weight() {
        let [few, many] = [20, 200].map(|count| fitted(World::Hidden, count));
        assert!(many[HIDDEN] > 1.0 && many[HIDDEN] > many[0], "{many:?}");
        assert!(few[HIDDEN] < many[HIDDEN], "few recalls move less: {few:?} {many:?}");
    }

    #[test]
    fn features_that_do_not_differ_keep_their_weights() {
        let weights = fitted(World::Hidden, 100);
        assert_eq!((weights[1], weights[8]), (1.0, 0.0));
    }

    #[test]
    fn nothing_moves_without_samples() {
        let base: Vector = std::array::from_fn(|at| at as f64);
        assert_eq!(Linear::fit(&[], &base).weights, base);
    }
}
