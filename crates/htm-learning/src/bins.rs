//! Features in bins, so that a split is found by sums over bins instead of sorted values.

use htm_core::ranking::{FEATURES, FeatureVector};

/// The most bins of a feature.
pub(crate) const MOST_BINS: usize = 64;

/// The place of each feature's value among the bounds of its bins.
pub(crate) type Row = [u8; FEATURES.len()];

/// The bins of the features, and the rows in them.
#[derive(Debug)]
pub(crate) struct Bins {
    /// The bounds of each feature's bins, ascending. A value is in the bin of the number of bounds that it reaches.
    pub(crate) bounds: Vec<Vec<f32>>,
    pub(crate) rows: Vec<Row>,
}

impl Bins {
    /// Bins that have about the same number of values each.
    pub(crate) fn of(features: &[FeatureVector]) -> Self {
        let bounds: Vec<Vec<f32>> = (0..FEATURES.len()).map(|feature| bounds(features, feature)).collect();
        let bin = |row: &FeatureVector, feature: usize| {
            bounds[feature].partition_point(|bound| *bound <= row[feature]) as u8
        };
        let rows = features.iter().map(|row| std::array::from_fn(|feature| bin(row, feature))).collect();
        Self { rows, bounds }
    }
}

fn bounds(features: &[FeatureVector], feature: usize) -> Vec<f32> {
    let mut values: Vec<f32> = features.iter().map(|row| row[feature]).collect();
    values.sort_by(f32::total_cmp);
    let mut bounds: Vec<f32> = (1..MOST_BINS).map(|bin| values[bin * values.len() / MOST_BINS]).collect();
    bounds.dedup();
    bounds.retain(|bound| *bound > values[0]);
    bounds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_below_exactly_the_bounds_above_its_bin() {
        let rows: Vec<FeatureVector> = (0..300).map(|at| [(at * 37 % 300) as f32; FEATURES.len()]).collect();
        let bins = Bins::of(&rows);
        assert_eq!(bins.bounds[3].len(), MOST_BINS - 1);
        for (row, features) in bins.rows.iter().zip(&rows) {
            for (bin, bound) in bins.bounds[3].iter().enumerate() {
                assert_eq!(features[3] < *bound, usize::from(row[3]) <= bin);
            }
        }
    }

    #[test]
    fn a_feature_with_one_value_has_one_bin() {
        assert!(Bins::of(&[[1.5; FEATURES.len()]; 40]).bounds.iter().all(Vec::is_empty));
    }
}
