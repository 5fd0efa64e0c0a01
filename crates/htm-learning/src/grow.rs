//! The growth of one regression tree, leaf by leaf: the split with the largest gain comes first.

use htm_core::ranking::{Tree, TreeNode};

use crate::bins::{Bins, MOST_BINS};

/// The most leaves of a tree. 4 to 16 give the same.
const MOST_LEAVES: usize = 8;

/// The least number of candidates of a leaf, and its least curvature.
const LEAST_ROWS: usize = 30;
const LEAST_CURVATURE: f64 = 0.5;

/// The pull of a leaf's value towards 0, as curvature.
const PULL: f64 = 5.0;

/// The slope and the curvature of the loss, and the number of candidates.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    slope: f64,
    curvature: f64,
    rows: usize,
}

impl Sums {
    fn add(&mut self, other: Self) {
        self.slope += other.slope;
        self.curvature += other.curvature;
        self.rows += other.rows;
    }

    fn without(self, other: Self) -> Self {
        Self {
            slope: self.slope - other.slope,
            curvature: self.curvature - other.curvature,
            rows: self.rows - other.rows,
        }
    }

    fn is_enough(self) -> bool {
        self.rows >= LEAST_ROWS && self.curvature >= LEAST_CURVATURE
    }

    /// The decrease of the loss by the best value.
    fn gain(self) -> f64 {
        self.slope * self.slope / (self.curvature + PULL)
    }
}

/// A split of a leaf.
#[derive(Clone, Copy, Debug)]
struct Split {
    gain: f64,
    feature: usize,
    /// Rows up to this bin go to the left.
    bin: usize,
}

/// A leaf that may be split.
#[derive(Debug)]
struct OpenLeaf {
    node: usize,
    rows: Vec<u32>,
    split: Option<Split>,
}

/// The slopes and curvatures that a tree is grown from.
#[derive(Debug)]
pub(crate) struct Ground<'a> {
    pub(crate) bins: &'a Bins,
    /// The slope of the loss by each row's score.
    pub(crate) slopes: &'a [f64],
    /// Its curvature.
    pub(crate) curvatures: &'a [f64],
    /// The features that this tree may use.
    pub(crate) features: &'a [usize],
    /// The factor of the leaves' values.
    pub(crate) rate: f64,
}

impl Ground<'_> {
    /// Grows a tree on rows.
    pub(crate) fn grow(&self, rows: Vec<u32>) -> Tree {
        let mut nodes = vec![self.leaf(&rows)];
        let mut open = vec![OpenLeaf { node: 0, split: self.best_split(&rows), rows }];
        for _ in 1..MOST_LEAVES {
            let gain = |leaf: &OpenLeaf| leaf.split.map(|split| split.gain);
            let best = (0..open.len()).filter_map(|at| Some((gain(&open[at])?, at)));
            let Some((_, at)) = best.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1))) else { break };
            let OpenLeaf { node, rows, split } = open.remove(at);
            let Some(Split { feature, bin, .. }) = split else { break };
            let is_left = |row: &u32| usize::from(self.bins.rows[*row as usize][feature]) <= bin;
            let (left, right): (Vec<u32>, Vec<u32>) = rows.into_iter().partition(is_left);
            let child = nodes.len();
            nodes[node] = TreeNode::Split {
                feature: feature as u8,
                below: self.bins.bounds[feature][bin],
                left: child as u16,
                right: child as u16 + 1,
            };
            for (at, rows) in [left, right].into_iter().enumerate() {
                nodes.push(self.leaf(&rows));
                open.push(OpenLeaf { node: child + at, split: self.best_split(&rows), rows });
            }
        }
        Tree(nodes)
    }

    fn sums(&self, row: u32) -> Sums {
        Sums { slope: self.slopes[row as usize], curvature: self.curvatures[row as usize], rows: 1 }
    }

    fn total(&self, rows: &[u32]) -> Sums {
        let mut total = Sums::default();
        for row in rows {
            total.add(self.sums(*row));
        }
        total
    }

    fn leaf(&self, rows: &[u32]) -> TreeNode {
        let total = self.total(rows);
        TreeNode::Leaf { value: (-self.rate * total.slope / (total.curvature + PULL)) as f32 }
    }

    fn best_split(&self, rows: &[u32]) -> Option<Split> {
        let mut bins = vec![[Sums::default(); MOST_BINS]; self.features.len()];
        for row in rows {
            let (sums, of_row) = (self.sums(*row), &self.bins.rows[*row as usize]);
            for (bins, feature) in bins.iter_mut().zip(self.features) {
                bins[usize::from(of_row[*feature])].add(sums);
            }
        }
        let total = self.total(rows);
        let mut best: Option<Split> = None;
        for (bins, &feature) in bins.iter().zip(self.features) {
            let mut left = Sums::default();
            for (bin, sums) in bins.iter().enumerate().take(self.bins.bounds[feature].len()) {
                left.add(*sums);
                let right = total.without(left);
                if !(left.is_enough() && right.is_enough()) {
                    continue;
                }
                let gain = left.gain() + right.gain() - total.gain();
                if gain > best.map_or(1e-9, |best| best.gain) {
                    best = Some(Split { gain, feature, bin });
                }
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use htm_core::ranking::{FEATURES, FeatureVector, Learnt};

    fn grown(slope: impl Fn(&FeatureVector) -> f64) -> Learnt {
        let rows: Vec<FeatureVector> = (0..400)
            .map(|at| std::array::from_fn(|feature| (at * (feature + 7) % 100) as f32 / 100.0))
            .collect();
        let slopes: Vec<f64> = rows.iter().map(slope).collect();
        let features: Vec<usize> = (0..FEATURES.len()).collect();
        let (bins, curvatures) = (Bins::of(&rows), vec![1.0; rows.len()]);
        let ground =
            Ground { bins: &bins, slopes: &slopes, curvatures: &curvatures, features: &features, rate: 1.0 };
        Learnt {
            trees: vec![ground.grow((0..400).collect())],
            weights: Vec::new(),
            ..Learnt::default_ranking()
        }
    }

    #[test]
    fn a_step_is_found() {
        let tree = grown(|row| if row[4] < 0.5 { 1.0 } else { -1.0 });
        let value = |at: f32| tree.score(&[at; FEATURES.len()]);
        assert!(value(0.1) < -0.9 && value(0.9) > 0.9, "{tree:?}");
    }

    #[test]
    fn a_tree_is_small_and_can_be_walked() {
        let tree = grown(|row| f64::from(row[2] * row[3] - row[9]));
        let full = Learnt { trees: tree.trees, ..Learnt::default_ranking() };
        assert_eq!(full.trees[0].0.len(), 2 * MOST_LEAVES - 1);
        assert_eq!(full.unusable(), None);
    }

    #[test]
    fn equal_slopes_have_one_leaf() {
        assert_eq!(grown(|_| 1.0).trees[0].0.len(), 1);
    }
}
