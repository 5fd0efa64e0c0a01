//! The fusion of ranked lists.

use std::collections::HashMap;
use std::hash::Hash;

/// The constant k of reciprocal rank fusion, which dampens the first ranks (Cormack et al. 2009, "Reciprocal Rank
/// Fusion outperforms Condorcet").
pub(crate) const DAMPING: f64 = 60.0;

/// The items of all lists with their scores, best first. A score is the weighted sum of 1 / (60 + rank), as a share of
/// the sum for an item that is first in every list. Items of equal score stay in the order of the lists. A list has no
/// item twice.
pub(crate) fn reciprocal_rank<T: Copy + Eq + Hash>(lists: &[(f64, Vec<T>)]) -> Vec<(T, f64)> {
    let sum = |shares: &[f64]| shares.iter().fold(0.0, |sum, share| sum + share);
    let mut fused: Vec<(T, f64)> =
        shares(lists).into_iter().map(|(item, shares)| (item, sum(&shares))).collect();
    fused.sort_by(|a, b| b.1.total_cmp(&a.1));
    fused
}

/// The items of all lists, in the order of the lists, each with the parts of its score: one of each list, 0 if the list
/// does not have it.
pub(crate) fn shares<T: Copy + Eq + Hash>(lists: &[(f64, Vec<T>)]) -> Vec<(T, Vec<f64>)> {
    let most: f64 = lists.iter().map(|(weight, _)| weight / (DAMPING + 1.0)).sum();
    let mut places: HashMap<T, usize> = HashMap::new();
    let mut found: Vec<(T, Vec<f64>)> = Vec::new();
    for (number, (weight, list)) in lists.iter().enumerate() {
        for (rank, item) in list.iter().enumerate() {
            let place = *places.entry(*item).or_insert_with(|| {
                found.push((*item, vec![0.0; lists.len()]));
                found.len() - 1
            });
            found[place].1[number] = weight / (DAMPING + 1.0 + rank as f64) / most;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_heaviest_list_leads_and_agreement_counts() {
        let fused =
            reciprocal_rank(&[(2.0, vec!['a', 'b', 'c']), (1.0, vec!['d', 'c']), (1.0, vec!['c', 'e'])]);
        let order: String = fused.iter().map(|(item, _)| *item).collect();
        assert_eq!(order, "cabde");
        assert_eq!(reciprocal_rank(&[(2.0, vec!['a']), (1.0, vec!['a'])]), [('a', 1.0)]);
        assert!(reciprocal_rank::<u8>(&[]).is_empty());
        let shares = shares(&[(1.0, vec!['a']), (1.0, vec!['b', 'a'])]);
        assert_eq!((shares[0].0, shares[0].1[0]), ('a', 0.5));
        assert_eq!(shares[1], ('b', vec![0.0, 0.5]));
    }

    proptest! {
        #[test]
        fn as_the_formula_says(lists in prop::collection::vec(
            (0.1_f64..4.0, prop::sample::subsequence((0_u8..20).collect::<Vec<_>>(), 0..20).prop_shuffle()), 1..5,
        )) {
            let fused = reciprocal_rank(&lists);
            let most: f64 = lists.iter().map(|(weight, _)| weight / 61.0).sum();
            for (item, score) in &fused {
                let naive: f64 = lists.iter()
                    .filter_map(|(weight, list)| Some(weight / (61 + list.iter().position(|other| other == item)?) as f64))
                    .sum();
                prop_assert!((score - naive / most).abs() < 1e-12 && *score <= 1.0 + 1e-12);
            }
            let mut all: Vec<u8> = lists.iter().flat_map(|(_, list)| list.clone()).collect();
            all.sort_unstable();
            all.dedup();
            let mut items: Vec<u8> = fused.iter().map(|(item, _)| *item).collect();
            prop_assert!(fused.is_sorted_by(|a, b| a.1 >= b.1));
            items.sort_unstable();
            prop_assert_eq!(items, all);
        }
    }
}
