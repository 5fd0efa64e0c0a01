//! A learnt ranking: a weight for each feature, and trees that are added to their sum. Pure.

use serde::{Deserialize, Serialize};

use super::features::{self, COUNT, FEATURES, FeatureVector, scale};
use crate::model::rankings::RankingWeight;

/// The most trees of a ranking, and the most splits of a tree. Each candidate walks down every tree.
const MOST_TREES: usize = 200;
const MOST_NODES: usize = 255;

/// A learnt ranking.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Learnt {
    /// The version of the features that it weighs.
    pub version: i16,
    /// The weight of each feature, in the order of [`FEATURES`].
    pub weights: Vec<f64>,
    /// Trees over the features. Their values are added to the weighted sum.
    #[serde(default)]
    pub trees: Vec<Tree>,
}

/// A regression tree: its nodes, of which the first is the root. The children of a node come after it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Tree(pub Vec<TreeNode>);

/// A node of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum TreeNode {
    /// A split: features below the bound go to the left.
    Split {
        /// The feature, by its place.
        feature: u8,
        /// The bound.
        below: f32,
        /// The place of the left child.
        left: u16,
        /// The place of the right child.
        right: u16,
    },
    /// A leaf.
    Leaf {
        /// Its value.
        value: f32,
    },
}

impl Learnt {
    /// The default ranking, as a learnt one.
    pub fn default_ranking() -> Self {
        Self { version: features::VERSION, weights: features::default_weights().into(), trees: Vec::new() }
    }

    /// The reason why this program cannot use it; none if it can.
    pub fn unusable(&self) -> Option<String> {
        if self.version != features::VERSION {
            return Some(format!(
                "it weighs version {} of the features, and this program has version {}",
                self.version,
                features::VERSION
            ));
        }
        if self.weights.len() != COUNT || !self.weights.iter().all(|weight| weight.is_finite()) {
            return Some(format!("it does not have {COUNT} finite weights"));
        }
        if self.trees.len() > MOST_TREES || !self.trees.iter().all(Tree::is_sound) {
            return Some("its trees cannot be walked".into());
        }
        None
    }

    /// The score of a candidate.
    pub fn score(&self, features: &FeatureVector) -> f64 {
        self.weighted(features) + self.of_trees(features)
    }

    fn weighted(&self, features: &FeatureVector) -> f64 {
        self.weights.iter().zip(features).map(|(weight, feature)| weight * f64::from(*feature)).sum()
    }

    fn of_trees(&self, features: &FeatureVector) -> f64 {
        self.trees.iter().map(|tree| f64::from(tree.value(features))).sum()
    }

    /// The contribution of each feature to a candidate's score, and of the trees.
    pub(crate) fn parts(&self, features: &FeatureVector) -> Vec<(&'static str, f64)> {
        let weighted = self.weights.iter().zip(features).zip(FEATURES);
        let mut parts: Vec<(&'static str, f64)> =
            weighted.map(|((weight, feature), (name, _))| (name, weight * f64::from(*feature))).collect();
        parts.push(("trees", self.of_trees(features)));
        parts
    }
}

impl Learnt {
    /// The weights that are not 0, or are not by default, those that differ most first.
    pub(crate) fn described(&self) -> Vec<RankingWeight> {
        let default = Learnt::default_ranking();
        let weights = self.weights.iter().zip(default.weights).zip(FEATURES);
        let mut described: Vec<RankingWeight> = weights
            .enumerate()
            .map(|(at, ((weight, by_default), (feature, about)))| {
                let scale = scale(at);
                RankingWeight { feature, about, by_default: scale * by_default, weight: scale * weight }
            })
            .filter(|it| it.weight.abs() >= 0.005 || it.by_default != 0.0)
            .collect();
        described.sort_by(|a, b| {
            let moved = |it: &RankingWeight| (it.weight - it.by_default).abs();
            moved(b).total_cmp(&moved(a))
        });
        described
    }
}

impl Tree {
    /// Whether each walk from the root ends at a leaf.
    fn is_sound(&self) -> bool {
        let is_sound = |(at, node): (usize, &TreeNode)| match node {
            TreeNode::Leaf { value } => value.is_finite(),
            TreeNode::Split { feature, below, left, right } => {
                usize::from(*feature) < COUNT
                    && below.is_finite()
                    && [left, right]
                        .iter()
                        .all(|&&child| usize::from(child) > at && usize::from(child) < self.0.len())
            }
        };
        !self.0.is_empty() && self.0.len() <= MOST_NODES && self.0.iter().enumerate().all(is_sound)
    }

    fn value(&self, features: &FeatureVector) -> f32 {
        let mut at = 0;
        loop {
            match self.0.get(at) {
                Some(TreeNode::Split { feature, below, left, right }) => {
                    let is_below = features.get(usize::from(*feature)).is_some_and(|feature| feature < below);
                    at = usize::from(if is_below { *left } else { *right });
                }
                Some(TreeNode::Leaf { value }) => return *value,
                None => return 0.0,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1 below 0.5 of the feature, or else 2 below 0.8 and 3 above.
    fn tree(feature: u8) -> Tree {
        let leaf = |value| TreeNode::Leaf { value };
        Tree(vec![
            TreeNode::Split { feature, below: 0.5, left: 1, right: 2 },
            leaf(1.0),
            TreeNode::Split { feature, below: 0.8, left: 3, right: 4 },
            leaf(2.0),
            leaf(3.0),
        ])
    }

    fn features(feature: usize, value: f32) -> FeatureVector {
        let mut features = [0.0; COUNT];
        features[feature] = value;
        features
    }

    #[test]
    fn trees_are_added_to_the_weighted_sum() {
        let mut learnt = Learnt::default_ranking();
        learnt.trees = vec![tree(3), tree(4)];
        assert_eq!(learnt.unusable(), None);
        let scores = [0.2, 0.5, 0.9].map(|value| learnt.score(&features(3, value)));
        let expected = [0.2 + 2.0, 0.5 + 3.0, 0.9 + 4.0];
        assert!(
            scores.iter().zip(expected).all(|(score, expected)| (score - expected).abs() < 1e-6),
            "{scores:?}"
        );
        let parts = learnt.parts(&features(3, 0.9));
        assert!((parts.iter().map(|(_, part)| part).sum::<f64>() - scores[2]).abs() < 1e-9);
    }

    #[test]
    fn what_cannot_be_walked_is_not_used() {
        let with = |trees: Vec<Tree>| Learnt { trees, ..Learnt::default_ranking() }.unusable();
        let split = |feature, left, right| TreeNode::Split { feature, below: 0.5, left, right };
        let leaf = TreeNode::Leaf { value: 1.0 };
        assert_eq!(with(vec![Tree(vec![split(0, 1, 2), leaf, leaf])]), None);
        for broken in [
            vec![],
            vec![split(0, 0, 1), leaf],
            vec![split(0, 1, 2), leaf],
            vec![split(200, 1, 1), leaf],
            vec![TreeNode::Leaf { value: f32::NAN }],
        ] {
            assert!(with(vec![Tree(broken)]).is_some());
        }
        assert!(with(vec![tree(0); MOST_TREES + 1]).is_some());
        let other = Learnt { version: features::VERSION + 1, ..Learnt::default_ranking() };
        assert!(other.unusable().unwrap().contains("version"));
        let short = Learnt { weights: vec![1.0], ..Learnt::default_ranking() };
        assert!(short.unusable().unwrap().contains("weights"));
    }

    #[test]
    fn a_ranking_is_read_as_it_was_written() {
        let mut learnt = Learnt::default_ranking();
        learnt.trees = vec![tree(7)];
        let text = serde_json::to_string(&learnt).unwrap();
        assert_eq!(serde_json::from_str::<Learnt>(&text).unwrap(), learnt);
    }
}
