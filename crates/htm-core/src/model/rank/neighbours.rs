//! The scores that turns get from their neighbours.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::bm25::Score;
use super::fusion::Fused;
use super::{Member, Shares};
use crate::model::id::NodeId;

/// The share that a turn gets of its neighbours' scores above the usual.
const WEIGHT: f64 = 0.3;

/// The weight of a neighbour two steps away, relative to the next one.
const FURTHER: f64 = 2.0 / 3.0;

/// The mean of the better of two normal values, in standard deviations above their mean.
const BETTER_OF_TWO: f64 = 0.56;

/// The number of candidates of score 0 that are counted with the others, because a few candidates say little about
/// chance.
const PRIOR: f64 = 5.0;

/// Two neighbouring turns, `steps` apart: 1 or 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Link {
    pub(crate) turn: NodeId,
    pub(crate) other: NodeId,
    pub(crate) steps: i64,
}

/// The most distinct lexemes of a turn. The neighbours of a longer text say nothing about it.
const LONGEST_TURN: u32 = 64;

/// The largest distance of a neighbour.
const MOST_STEPS: i64 = 2;

/// A conversation of a namespace.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Conversation {
    pub(crate) namespace: String,
    pub(crate) session: String,
}

/// A node's place in its conversation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Turn {
    pub(crate) id: NodeId,
    pub(crate) conversation: Arc<Conversation>,
    /// Its number within the session. Without one, its time decides its place.
    pub(crate) seq: Option<i32>,
    pub(crate) created_at: DateTime<Utc>,
    /// The number of distinct lexemes.
    pub(crate) lexemes: u32,
}

/// The neighbours of the turns `of`, where `turns` are all turns of their conversations. The same as links.sql, for turns in
/// memory.
pub(crate) fn links(turns: &[Turn], of: &HashSet<NodeId>) -> Vec<Link> {
    let mut conversations: HashMap<&Conversation, Vec<&Turn>> = HashMap::new();
    for turn in turns {
        conversations.entry(&turn.conversation).or_default().push(turn);
    }
    let mut links = Vec::new();
    for turns in conversations.values_mut() {
        turns.sort_by_key(|turn| (turn.created_at, turn.id));
        for (at, turn) in turns.iter().enumerate() {
            if turn.lexemes > LONGEST_TURN || !of.contains(&turn.id) {
                continue;
            }
            for (place, other) in turns.iter().enumerate() {
                let steps = match (turn.seq, other.seq) {
                    (Some(seq), Some(other)) => (i64::from(seq) - i64::from(other)).abs(),
                    (Some(_), None) => continue,
                    (None, _) => place.abs_diff(at) as i64,
                };
                if (1..=MOST_STEPS).contains(&steps) {
                    links.push(Link { turn: turn.id, other: other.id, steps });
                }
            }
        }
    }
    links
}

/// The score that each turn gets from its neighbours: a share of the better of both next to it, and a smaller share of
/// the better of both one step further. Only the difference from the usual score counts, so that a turn has no
/// advantage over a standalone text.
pub(super) fn shares(scored: &[(Member, Score)], fused: &[Fused], links: &[Link]) -> Shares {
    if links.is_empty() {
        return Shares::new();
    }
    let fused_of: HashMap<NodeId, Fused> =
        scored.iter().zip(fused).map(|((member, _), fused)| (member.id, *fused)).collect();
    let usual = Usual::of(scored, fused);
    let mut beside: HashMap<NodeId, [Beside; 2]> = HashMap::new();
    for link in links {
        for (turn, other) in [(link.turn, link.other), (link.other, link.turn)] {
            if let Some(fused) = fused_of.get(&other) {
                let place = usize::from(link.steps > 1);
                beside.entry(turn).or_default()[place].add(other, fused);
            }
        }
    }
    let share = |[next, further]: [Beside; 2]| Neighbours {
        next: WEIGHT * next.above(usual),
        further: WEIGHT * FURTHER * further.above(usual),
        vector: next.vector,
        text: next.text,
    };
    beside.into_iter().map(|(turn, beside)| (turn, share(beside))).collect()
}

/// A turn's gain from its neighbours.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Neighbours {
    /// From the better of both next to it.
    pub(super) next: f64,
    /// From the better of both one step further.
    pub(super) further: f64,
    /// The largest vector part of both next to it.
    pub(super) vector: f64,
    /// The largest text part of both next to it.
    pub(super) text: f64,
}

/// The turns at one distance from a turn.
#[derive(Clone, Copy, Debug, Default)]
struct Beside {
    best: Option<(NodeId, f64)>,
    has_two: bool,
    vector: f64,
    text: f64,
}

impl Beside {
    fn add(&mut self, other: NodeId, fused: &Fused) {
        let Some(base) = fused.base() else { return };
        self.vector = self.vector.max(fused.vector.unwrap_or(0.0));
        self.text = self.text.max(fused.text);
        self.has_two |= self.best.is_some_and(|(known, _)| known != other);
        if self.best.is_none_or(|(_, best)| base > best) {
            self.best = Some((other, base));
        }
    }

    fn above(self, usual: Usual) -> f64 {
        self.best.map_or(0.0, |(_, best)| best - if self.has_two { usual.of_two } else { usual.of_one })
    }
}

/// The usual score of one candidate by chance, and that of the better of two.
#[derive(Clone, Copy, Debug)]
struct Usual {
    of_one: f64,
    of_two: f64,
}

impl Usual {
    fn of(scored: &[(Member, Score)], fused: &[Fused]) -> Self {
        let candidates = scored.iter().zip(fused).filter(|((member, _), _)| member.is_candidate());
        let bases: Vec<f64> = candidates.map(|(_, fused)| fused.base().unwrap_or(0.0)).collect();
        let count = bases.len() as f64 + PRIOR;
        let mean = bases.iter().sum::<f64>() / count;
        let square = bases.iter().map(|base| base * base).sum::<f64>() / count;
        let deviation = (square - mean * mean).max(0.0).sqrt();
        Self { of_one: mean, of_two: mean + BETTER_OF_TWO * deviation }
    }
}
