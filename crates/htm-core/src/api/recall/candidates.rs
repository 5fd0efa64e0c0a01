//! What the legs of a search brought.

use std::collections::{HashMap, HashSet};

use super::text::Named;
use crate::model::id::NodeId;
use crate::model::rank::Member;
use crate::store::recall::Features;

/// What the legs brought.
#[derive(Default)]
pub(super) struct Candidates {
    order: Vec<NodeId>,
    members: HashMap<NodeId, Member>,
}

impl Candidates {
    fn member(&mut self, node: NodeId) -> &mut Member {
        self.members.entry(node).or_insert_with(|| {
            self.order.push(node);
            Member::new(node)
        })
    }

    pub(super) fn by_vector(&mut self, mut leg: Vec<(NodeId, f64)>, least: Option<f64>) {
        leg.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
        let near = leg.into_iter().filter(|(_, similarity)| least.is_none_or(|least| *similarity >= least));
        for (rank, (node, similarity)) in (1..).zip(near) {
            let member = self.member(node);
            member.vector_rank = Some(rank);
            member.similarity = Some(similarity);
        }
    }

    pub(super) fn by_text(&mut self, leg: Vec<NodeId>) {
        for (rank, node) in (1..).zip(leg) {
            self.member(node).text_rank = Some(rank);
        }
    }

    pub(super) fn by_tag(&mut self, leg: Vec<NodeId>) {
        for node in leg {
            self.member(node).by_tag = true;
        }
    }

    /// Those that vectors or words brought.
    pub(super) fn of_a_leg(&self) -> Vec<NodeId> {
        let is_of_a_leg = |node: &&NodeId| {
            let member = &self.members[*node];
            member.vector_rank.is_some() || member.text_rank.is_some()
        };
        self.order.iter().filter(is_of_a_leg).copied().collect()
    }

    /// All, with these beside.
    pub(super) fn with(&self, beside: impl Iterator<Item = NodeId>) -> Vec<NodeId> {
        let mut seen: HashSet<NodeId> = self.order.iter().copied().collect();
        let beside = beside.filter(|node| seen.insert(*node));
        let beside: Vec<NodeId> = beside.collect();
        self.order.iter().copied().chain(beside).collect()
    }

    pub(super) fn into_members(self) -> Vec<Member> {
        self.members.into_values().collect()
    }

    /// What the ranking has to know of each.
    pub(super) fn members(
        mut self,
        features: Vec<Features>,
        sought: Vec<(NodeId, usize, f64)>,
        named: &Named,
    ) -> Vec<Member> {
        let mut sought_of: HashMap<NodeId, Vec<(usize, f64)>> = HashMap::new();
        for (node, place, count) in sought {
            sought_of.entry(node).or_default().push((place, count));
        }
        features
            .into_iter()
            .map(|Features { member, speaker, created_at }| {
                let known = self.members.remove(&member.id);
                let known = known.unwrap_or_else(|| Member::new(member.id));
                Member {
                    vector_rank: known.vector_rank,
                    text_rank: known.text_rank,
                    by_tag: known.by_tag,
                    sought: sought_of.remove(&member.id).unwrap_or_default(),
                    is_of_speaker: speaker.is_some_and(|speaker| named.has_speaker(&speaker)),
                    is_of_month: named.months.iter().any(|month| month.is_spoken_of(created_at)),
                    ..member
                }
            })
            .collect()
    }
}
