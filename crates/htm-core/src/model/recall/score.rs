//! The score that people see: 0 to 1, with the same meaning in each strategy.

/// The degree to which a hit answers its query: its cosine similarity, its share of the highest text score, or both by
/// the vectors' weight.
pub(crate) fn degree(similarity: Option<f64>, text_share: Option<f64>, weight_vector: f64) -> f64 {
    let similarity = similarity.map(|similarity| similarity.max(0.0));
    match (similarity, text_share) {
        (Some(similarity), Some(share)) => weight_vector * similarity + (1.0 - weight_vector) * share,
        (similarity, share) => similarity.or(share).unwrap_or(0.0),
    }
}

/// The score of a hit that is ordered by `value`. The best hit has `best_degree`, and the others are in proportion.
///
/// A best value that is not above 0 has no proportions. It occurs because equal candidates, or a single one, are
/// normalised to 0.
pub(crate) fn in_proportion(best_degree: f64, best_value: f64, value: f64) -> f64 {
    let share = match best_value > 0.0 {
        true => value / best_value,
        false => f64::from(u8::from(value >= best_value)),
    };
    (best_degree * share).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn one_leg_is_its_own_score() {
        assert_eq!(degree(Some(0.6), None, 0.5), 0.6);
        assert_eq!(degree(None, Some(0.4), 0.5), 0.4);
        assert_eq!(degree(Some(0.6), Some(0.4), 0.5), 0.5);
        assert_eq!(degree(None, None, 0.5), 0.0);
    }

    proptest! {
        #[test]
        fn scores_are_in_order_and_between_0_and_1(
            degree in 0.0_f64..=1.0, mut values in prop::collection::vec(prop_oneof![Just(0.0), -2.0_f64..20.0], 1..9),
        ) {
            values.sort_by(|a, b| b.total_cmp(a));
            let scores: Vec<f64> = values.iter().map(|&value| in_proportion(degree, values[0], value)).collect();
            prop_assert!(scores.is_sorted_by(|a, b| a >= b));
            prop_assert!(scores.iter().all(|score| (0.0..=1.0).contains(score)));
            // Also for a single hit: without others its value is 0, but its score is not.
            prop_assert!((scores[0] - degree).abs() < 1e-9);
        }
    }
}
