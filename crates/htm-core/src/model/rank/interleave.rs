//! Two rankings in one list, by team draft (Radlinski, Kurup and Joachims 2008, "How Does Clickthrough Data Reflect
//! Retrieval Quality?"): in each round both add their best node that is not in the list yet, and a coin says which is
//! first. Use of the list then shows which ranking is better.

use std::collections::HashSet;

use crate::model::id::NodeId;

/// A list of nodes of both orders, each with whether the second order brought it. `coin` decides who begins a round.
pub(crate) fn team_draft(
    first: &[NodeId],
    second: &[NodeId],
    limit: usize,
    mut coin: impl FnMut() -> bool,
) -> Vec<(NodeId, bool)> {
    let mut drafted = Vec::new();
    let mut taken = HashSet::new();
    let mut orders = [first.iter(), second.iter()];
    while drafted.len() < limit {
        let second_begins = coin();
        let before = drafted.len();
        for by_second in [second_begins, !second_begins] {
            if drafted.len() < limit
                && let Some(node) = orders[usize::from(by_second)].find(|node| !taken.contains(*node))
            {
                taken.insert(*node);
                drafted.push((*node, by_second));
            }
        }
        if drafted.len() == before {
            break;
        }
    }
    drafted
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn nodes(ids: &[i64]) -> Vec<NodeId> {
        ids.iter().map(|id| NodeId(*id)).collect()
    }

    #[test]
    fn both_rankings_bring_their_best() {
        let (first, second) = (nodes(&[1, 2, 3, 4]), nodes(&[3, 1, 4, 2]));
        let drafted = team_draft(&first, &second, 3, || false);
        assert_eq!(drafted, [(NodeId(1), false), (NodeId(3), true), (NodeId(2), false)]);
        let drafted = team_draft(&first, &second, 3, || true);
        assert_eq!(drafted, [(NodeId(3), true), (NodeId(1), false), (NodeId(4), true)]);
    }

    proptest! {
        #[test]
        fn every_node_is_listed_once(
            first in Just((0..12).collect::<Vec<i64>>()).prop_shuffle(),
            second in Just((0..12).collect::<Vec<i64>>()).prop_shuffle(),
            limit in 0_usize..15, coins in prop::collection::vec(any::<bool>(), 16),
        ) {
            let mut coins = coins.into_iter().cycle();
            let drafted = team_draft(&nodes(&first), &nodes(&second), limit, || coins.next().unwrap_or(false));
            prop_assert_eq!(drafted.len(), limit.min(12));
            let distinct: HashSet<NodeId> = drafted.iter().map(|(node, _)| *node).collect();
            prop_assert_eq!(distinct.len(), drafted.len());
            // Neither ranking has more than one node more than the other, while both have some left.
            let by_second = drafted.iter().filter(|(_, by_second)| *by_second).count() as i64;
            prop_assert!((drafted.len() as i64 - 2 * by_second).abs() <= 1);
        }
    }
}
