//! Boosted trees that are added to the weighted sum (gradient boosting as in LambdaMART, Burges 2010, with the loss of
//! `softmax.rs`).

use htm_core::ranking::{FEATURES, FeatureVector, Learnt, Tree, TreeNode};

use crate::bins::Bins;
use crate::grow::Ground;
use crate::linear::Linear;
use crate::sample::Sample;
use crate::softmax::shares;

/// The number of trees. 50 to 150 give the same.
const TREES: usize = 60;

/// The factor of each tree's values.
const RATE: f64 = 0.1;

/// The share of recalls that a tree learns from, and the share of features that it may use.
const OF_SAMPLES: f64 = 0.5;
const OF_FEATURES: f64 = 0.4;

/// Fits trees to what the weights leave. Their values are on the scale of the scores.
pub(crate) fn trees(samples: &[(&Sample, f64)], linear: &Linear, seed: u64) -> Vec<Tree> {
    let features: Vec<FeatureVector> =
        samples.iter().flat_map(|(sample, _)| sample.rows.iter().copied()).collect();
    let bins = Bins::of(&features);
    let mut random = fastrand::Rng::with_seed(seed);
    let mut logits: Vec<Vec<f64>> = samples
        .iter()
        .map(|(sample, _)| linear.scores(sample).iter().map(|score| score * linear.sharpness).collect())
        .collect();
    let mut trees = Vec::with_capacity(TREES);
    for _ in 0..TREES {
        let (mut rows, mut slopes, mut curvatures) = (Vec::new(), Vec::new(), Vec::new());
        for ((sample, weight), logits) in samples.iter().zip(&logits) {
            let first = slopes.len();
            for (share, target) in shares(sample, logits).0.iter().zip(&sample.targets) {
                slopes.push(weight * (share - target));
                curvatures.push(weight * share * (1.0 - share));
            }
            if random.f64() < OF_SAMPLES {
                rows.extend((first..slopes.len()).map(|row| row as u32));
            }
        }
        let features = some_features(&mut random);
        let ground =
            Ground { bins: &bins, slopes: &slopes, curvatures: &curvatures, features: &features, rate: RATE };
        let tree =
            Learnt { trees: vec![ground.grow(rows)], weights: Vec::new(), ..Learnt::default_ranking() };
        for ((sample, _), logits) in samples.iter().zip(&mut logits) {
            for (logit, row) in logits.iter_mut().zip(&sample.rows) {
                *logit += tree.score(row);
            }
        }
        trees.extend(tree.trees);
    }
    trees.iter().map(|tree| scaled(tree, 1.0 / linear.sharpness)).collect()
}

fn some_features(random: &mut fastrand::Rng) -> Vec<usize> {
    let mut features: Vec<usize> = (0..FEATURES.len()).collect();
    random.shuffle(&mut features);
    features.truncate((FEATURES.len() as f64 * OF_FEATURES).ceil() as usize);
    features.sort_unstable();
    features
}

fn scaled(tree: &Tree, factor: f64) -> Tree {
    let scaled = |node: &TreeNode| match *node {
        TreeNode::Leaf { value } => TreeNode::Leaf { value: (f64::from(value) * factor) as f32 },
        split @ TreeNode::Split { .. } => split,
    };
    Tree(tree.0.iter().map(scaled).collect())
}
