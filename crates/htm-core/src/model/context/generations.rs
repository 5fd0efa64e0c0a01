//! Generations of superseded memories.

use std::collections::HashMap;

use crate::model::id::NodeId;
use crate::model::relations::Superseded;

/// The generation of each superseded memory: 1 if nobody supersedes its successors, otherwise one more than that of the
/// last of them. Without recursion: chains may be long.
pub(super) fn generations(superseded: &HashMap<NodeId, &Superseded>) -> HashMap<NodeId, usize> {
    let mut known: HashMap<NodeId, usize> = HashMap::new();
    for start in superseded.keys() {
        let mut open = if known.contains_key(start) { Vec::new() } else { vec![*start] };
        while let Some(node) = open.last().copied() {
            // A memory that is open counts as known, so a circle ends.
            known.entry(node).or_insert(1);
            let successors = || superseded.get(&node).into_iter().flat_map(|it| &it.superseded_by);
            let is_unknown = |node: &NodeId| superseded.contains_key(node) && !known.contains_key(node);
            match successors().map(|it| it.node).find(is_unknown) {
                Some(next) => open.push(next),
                None => {
                    let last = successors().filter_map(|it| known.get(&it.node)).max().copied();
                    known.insert(node, 1 + last.unwrap_or_default());
                    open.pop();
                }
            }
        }
    }
    known
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::context::tests::superseded;

    fn sorted(relations: &[(i64, &[i64])]) -> Vec<(i64, usize)> {
        let relations = superseded(relations);
        let found = generations(&relations.iter().map(|it| (it.node, it)).collect());
        let mut found: Vec<(i64, usize)> = found.into_iter().map(|(node, it)| (node.0, it)).collect();
        found.sort_unstable();
        found
    }

    #[test]
    fn a_memory_is_a_generation_behind_its_last_successor() {
        assert_eq!(
            sorted(&[(1, &[2, 9]), (2, &[3]), (3, &[9]), (4, &[9])]),
            [(1, 3), (2, 2), (3, 1), (4, 1)]
        );
        assert!(sorted(&[]).is_empty());
    }

    #[test]
    fn a_circle_and_a_long_chain_end() {
        assert_eq!(sorted(&[(1, &[2]), (2, &[1])]).len(), 2);
        let by: Vec<[i64; 1]> = (1..=50_000).map(|node| [node + 1]).collect();
        let chain: Vec<(i64, &[i64])> = (1..).zip(&by).map(|(node, by)| (node, &by[..])).collect();
        assert_eq!(sorted(&chain)[0], (1, 50_000));
    }
}
