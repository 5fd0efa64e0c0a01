//! Superseded hits: their order, and the memories that take their places.

use std::collections::{HashMap, HashSet};

use super::Hit;
use crate::model::id::NodeId;
use crate::model::nodes::Node;
use crate::model::relations::{Predecessor, Successor};

/// The successors of memories that are no hits.
pub(crate) type Beyond = HashMap<NodeId, Vec<NodeId>>;

/// The memories that supersede hits and are none, with their namespaces. Their successors decide the order of the hits.
pub(crate) fn unknown(hits: &[Hit]) -> HashMap<NodeId, &str> {
    if hits.len() < 2 {
        return HashMap::new();
    }
    let mut found: HashMap<NodeId, &str> =
        hits.iter().flat_map(|hit| direct(hit).map(move |node| (node, &*hit.node.namespace))).collect();
    hits.iter().for_each(|hit| {
        found.remove(&hit.node.id);
    });
    found
}

fn direct(hit: &Hit) -> impl Iterator<Item = NodeId> {
    hit.node.superseded_by.iter().map(|it| it.node)
}

/// The places of the hits that supersede a hit, directly or by memories that are no hits, in order.
fn superseding(hit: &Hit, places: &HashMap<NodeId, usize>, beyond: &Beyond) -> Vec<usize> {
    let mut open: Vec<NodeId> = direct(hit).collect();
    let (mut seen, mut found) = (HashSet::new(), Vec::new());
    while let Some(node) = open.pop() {
        if seen.insert(node) {
            match places.get(&node) {
                Some(place) => found.push(*place),
                None => open.extend(beyond.get(&node).into_iter().flatten()),
            }
        }
    }
    found.sort_unstable();
    found
}

/// Moves the hits that supersede a hit directly before it, the current ones first. All others keep their order.
pub(crate) fn order(hits: &mut Vec<Hit>, beyond: &Beyond) {
    if hits.iter().all(|hit| hit.node.superseded_by.is_empty()) {
        return;
    }
    let places: HashMap<NodeId, usize> = hits.iter().enumerate().map(|(at, hit)| (hit.node.id, at)).collect();
    let (mut is_known, mut order) = (vec![false; hits.len()], Vec::with_capacity(hits.len()));
    for at in 0..hits.len() {
        // A hit waits below those that supersede it. Not by recursion: chains are long.
        let mut open = vec![(at, false)];
        while let Some((at, has_waited)) = open.pop() {
            if has_waited {
                order.push(at);
            } else if !std::mem::replace(&mut is_known[at], true) {
                open.push((at, true));
                let before = superseding(&hits[at], &places, beyond);
                open.extend(before.into_iter().rev().map(|at| (at, false)));
            }
        }
    }
    let mut rest: Vec<Option<Hit>> = std::mem::take(hits).into_iter().map(Some).collect();
    hits.extend(order.into_iter().filter_map(|at| rest[at].take()));
}

/// The memories that may take the places of superseded hits: of each hit the one that was set last.
pub(crate) fn successors(hits: &[Hit]) -> Vec<NodeId> {
    let mut seen = HashSet::new();
    let last = hits.iter().filter_map(|hit| hit.node.superseded_by.first());
    last.map(|it| it.node).filter(|node| seen.insert(*node)).collect()
}

/// Gives the place of each superseded hit to the memory that supersedes it, which keeps the hit's scores. A memory is in the
/// list once, at its best place, and never beside one that supersedes it.
pub(crate) fn follow(hits: Vec<Hit>, successors: &HashMap<NodeId, Node>) -> Vec<Hit> {
    let mut seen = HashSet::new();
    let mut followed: Vec<Hit> = hits
        .into_iter()
        .map(|hit| {
            match hit.node.superseded_by.first().and_then(|it| Some((it, successors.get(&it.node)?))) {
                Some((successor, node)) => taken_by(&hit, successor, node),
                None => hit,
            }
        })
        .filter(|hit| seen.insert(hit.node.id))
        .collect();
    followed.retain(|hit| hit.node.superseded_by.iter().all(|it| !seen.contains(&it.node)));
    followed
}

/// The hit of a memory at the place of one that it supersedes.
fn taken_by(hit: &Hit, successor: &Successor, node: &Node) -> Hit {
    let predecessor = Predecessor {
        node: hit.node.id,
        created_at: hit.node.created_at,
        excerpt: hit.node.content.chars().take(100).collect(),
        reason: successor.reason.clone(),
        made_at: successor.made_at,
    };
    // The passage is of the other text.
    Hit { node: node.clone(), followed_from: Some(predecessor), snippet: None, ..hit.clone() }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use proptest::prelude::*;

    use super::*;
    use crate::model::recall::{MatchedBy, Scores};

    fn node(id: i64, superseded_by: &[i64]) -> Node {
        let successor = |id: &i64| Successor {
            node: NodeId(*id),
            created_at: DateTime::UNIX_EPOCH,
            excerpt: String::new(),
            reason: Some("newer".into()),
            made_at: DateTime::UNIX_EPOCH,
        };
        Node {
            id: NodeId(id),
            namespace: "n".into(),
            robot: "r".into(),
            key: None,
            content: format!("text {id}"),
            speaker: None,
            session: None,
            seq: None,
            source: None,
            kind: None,
            importance: 1.0,
            token_count: 1,
            token_encoding: "estimate".into(),
            tags: Vec::new(),
            metadata: serde_json::json!({}),
            remember_count: 1,
            first_remembered: DateTime::UNIX_EPOCH,
            last_remembered: DateTime::UNIX_EPOCH,
            revision: 1,
            created_at: DateTime::UNIX_EPOCH,
            updated_at: DateTime::UNIX_EPOCH,
            expires_at: None,
            ttl_seconds: None,
            superseded_by: superseded_by.iter().map(successor).collect(),
        }
    }

    fn hits(nodes: &[(i64, &[i64])]) -> Vec<Hit> {
        let hit = |(place, (id, by)): (usize, &(i64, &[i64]))| Hit {
            node: node(*id, by),
            scores: Scores { score: 1.0 / (place + 1) as f64, ..Scores::default() },
            access_count: 0,
            last_accessed: None,
            matched_by: MatchedBy::Both,
            snippet: None,
            explanation: None,
            folded: Vec::new(),
            followed_from: None,
            before: Vec::new(),
            after: Vec::new(),
        };
        nodes.iter().enumerate().map(hit).collect()
    }

    fn ids(hits: &[Hit]) -> Vec<i64> {
        hits.iter().map(|hit| hit.node.id.0).collect()
    }

    #[test]
    fn a_successor_takes_the_best_place_and_the_superseded_hit_is_behind_it() {
        // 1 is superseded by 2, 2 by 3; 9 supersedes 4 and is no hit.
        let mut found = hits(&[(1, &[2]), (4, &[9]), (2, &[3]), (5, &[]), (3, &[]), (6, &[])]);
        order(&mut found, &Beyond::new());
        assert_eq!(ids(&found), [3, 2, 1, 4, 5, 6]);
    }

    #[test]
    fn a_successor_by_way_of_memories_that_are_no_hits_is_before() {
        // 1 is superseded by 7, 7 by 8 and 9, 9 by 2.
        let nodes: [(i64, &[i64]); 3] = [(1, &[7]), (3, &[]), (2, &[])];
        let beyond = [(7, [8, 9]), (9, [2, 2])];
        let beyond = Beyond::from(beyond.map(|(node, by)| (NodeId(node), by.map(NodeId).into())));
        assert_eq!(unknown(&hits(&nodes)), HashMap::from([(NodeId(7), "n")]));
        assert!(unknown(&hits(&nodes[..1])).is_empty());
        assert!(unknown(&hits(&[(1, &[2]), (2, &[])])).is_empty());
        let mut found = hits(&nodes);
        order(&mut found, &beyond);
        assert_eq!(ids(&found), [2, 1, 3]);
    }

    #[test]
    fn the_best_hit_does_not_depend_on_what_is_found_behind_the_pair() {
        let current: &[i64] = &[];
        let mut all: Vec<(i64, &[i64])> = vec![(1, &[2])];
        all.extend((10..22).map(|id| (id, current)));
        all.push((2, current));
        all.extend((30..80).map(|id| (id, current)));
        for limit in [14, 20, all.len()] {
            let mut found = hits(&all[..limit]);
            order(&mut found, &Beyond::new());
            assert_eq!(ids(&found)[..3], [2, 1, 10], "{limit}");
        }
    }

    #[test]
    fn two_successors_of_a_hit_keep_their_order() {
        // 1 is superseded by 2 and 3, both of them by 4.
        let mut found = hits(&[(9, &[]), (1, &[2, 3]), (3, &[4]), (8, &[]), (2, &[4]), (4, &[])]);
        order(&mut found, &Beyond::new());
        assert_eq!(ids(&found), [9, 4, 3, 2, 1, 8]);
    }

    #[test]
    fn a_long_chain_is_put_in_order() {
        let by: Vec<[i64; 1]> = (1..=50_000).map(|id| [id + 1]).collect();
        let nodes: Vec<(i64, &[i64])> = (1..).zip(&by).map(|(id, by)| (id, &by[..])).collect();
        let mut found = hits(&nodes);
        order(&mut found, &Beyond::new());
        assert!(ids(&found).into_iter().eq((1..=50_000).rev()));
    }

    #[test]
    fn a_successor_takes_the_place_and_the_scores() {
        let found = hits(&[(1, &[2]), (4, &[]), (2, &[])]);
        let successors = HashMap::from([(NodeId(2), node(2, &[]))]);
        let followed = follow(found, &successors);
        assert_eq!(ids(&followed), [2, 4]);
        assert_eq!(followed[0].scores.score, 1.0);
        let from = followed[0].followed_from.as_ref().unwrap();
        assert_eq!((from.node, from.reason.as_deref()), (NodeId(1), Some("newer")));
    }

    #[test]
    fn of_a_chain_the_last_stays() {
        let found = hits(&[(1, &[2]), (2, &[3])]);
        let successors = HashMap::from([(NodeId(2), node(2, &[3])), (NodeId(3), node(3, &[]))]);
        assert_eq!(ids(&follow(found, &successors)), [3]);
        // One step: 3 is no hit and takes no place.
        let found = hits(&[(1, &[2])]);
        let successors = HashMap::from([(NodeId(2), node(2, &[3]))]);
        let followed = follow(found, &successors);
        assert_eq!(ids(&followed), [2]);
        assert_eq!(followed[0].node.superseded_by[0].node, NodeId(3));
    }

    proptest! {
        #[test]
        fn no_hit_is_lost_and_only_successors_are_moved_up(
            order_of in Just((0i64..12).collect::<Vec<_>>()).prop_shuffle(),
            edges in prop::collection::vec((0i64..12, 0i64..14), 0..20),
        ) {
            // A memory is superseded by those with larger numbers, as no circle is allowed.
            let by: Vec<Vec<i64>> = (0..12)
                .map(|id| edges.iter().filter(|(from, to)| *from == id && *to > id).map(|it| it.1).collect())
                .collect();
            let nodes: Vec<(i64, &[i64])> = order_of.iter().map(|id| (*id, &by[*id as usize][..])).collect();
            let mut found = hits(&nodes);
            order(&mut found, &Beyond::new());
            let places: HashMap<i64, usize> = ids(&found).into_iter().enumerate().map(|(at, id)| (id, at)).collect();
            prop_assert_eq!(places.len(), 12);
            for (id, successors) in by.iter().enumerate() {
                for successor in successors.iter().filter(|it| places.contains_key(it)) {
                    prop_assert!(places[successor] < places[&(id as i64)]);
                }
            }
            // The larger numbers first: what supersedes a successor supersedes the hit, too.
            let mut above: Vec<HashSet<i64>> = vec![HashSet::new(); 14];
            for id in (0..12).rev() {
                let further = by[id].iter().flat_map(|it| above[*it as usize].iter().chain([it]));
                let further: HashSet<i64> = further.copied().collect();
                above[id] = further;
            }
            for (at, later) in order_of.iter().enumerate() {
                let is_needed = |it: &i64| above[*it as usize].contains(later);
                for earlier in order_of[..at].iter().filter(|it| places[*it] > places[later]) {
                    let up_to = order_of.iter().position(|it| it == earlier).unwrap_or_default();
                    prop_assert!(order_of[..=up_to].iter().any(is_needed), "{later} is before {earlier}");
                }
            }
            let successors: HashMap<NodeId, Node> = (0..14)
                .map(|id| (NodeId(id), node(id, by.get(id as usize).map_or(&[], |it| &it[..]))))
                .collect();
            let followed = follow(hits(&nodes), &successors);
            let left: HashSet<NodeId> = followed.iter().map(|hit| hit.node.id).collect();
            prop_assert_eq!(left.len(), followed.len());
            prop_assert!(followed.iter().all(|hit| hit.node.superseded_by.iter().all(|it| !left.contains(&it.node))));
        }
    }
}
