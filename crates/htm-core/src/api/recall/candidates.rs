//! The candidates of a search.

use std::collections::{BTreeMap, HashSet};

use super::text::Mentions;
use crate::model::id::NodeId;
use crate::model::rank::Member;
use crate::store::recall::Features;

/// The first candidates of each leg whose neighbouring turns are read. Each of them may have four, so with those of all 100
/// the neighbours would be most of what is read. Recall at ten on the evaluation sets, by 10, 20, 30, 50, 70 and 100:
/// conversations .779 .781 .789 .788 .789 .790, users' messages .674 .683 .683 .683 .680 .680, long answers .526 .527 .520
/// .520 .522 .525 (.0056 is one question of 179), abstracts .891 each.
const LINKED: i64 = 30;

/// The candidates that the legs returned.
#[derive(Default)]
pub(super) struct Candidates {
    order: Vec<NodeId>,
    members: BTreeMap<NodeId, Member>,
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

    /// The first candidates of the vector leg and the text leg.
    pub(super) fn first_of_legs(&self) -> Vec<NodeId> {
        let is_first = |node: &&NodeId| {
            let member = &self.members[*node];
            [member.vector_rank, member.text_rank].into_iter().flatten().any(|rank| rank <= LINKED)
        };
        self.order.iter().filter(is_first).copied().collect()
    }

    /// All candidates, followed by the nodes of `beside`.
    pub(super) fn with(&self, beside: impl Iterator<Item = NodeId>) -> Vec<NodeId> {
        let mut seen: HashSet<NodeId> = self.order.iter().copied().collect();
        let beside = beside.filter(|node| seen.insert(*node));
        let beside: Vec<NodeId> = beside.collect();
        self.order.iter().copied().chain(beside).collect()
    }

    /// The nodes of `nodes` that the vector leg has not compared.
    pub(super) fn uncompared(&self, nodes: &[NodeId]) -> Vec<NodeId> {
        let is_compared = |node| self.members.get(node).is_some_and(|member| member.similarity.is_some());
        nodes.iter().filter(|node| !is_compared(*node)).copied().collect()
    }

    /// Records the features of texts and the occurrences of the sought terms.
    pub(super) fn have(
        &mut self,
        features: Vec<Features>,
        sought: Vec<(NodeId, usize, f64)>,
        mentions: &Mentions,
    ) {
        for Features { node, terms, speaker, created_at, similarity } in features {
            let member = self.beside(node);
            member.terms = terms;
            member.similarity = member.similarity.or(similarity);
            member.is_of_speaker = speaker.is_some_and(|speaker| mentions.has_speaker(&speaker));
            member.created_at = Some(created_at);
            member.is_of_month = mentions.has_month(created_at);
        }
        for (node, place, count) in sought {
            self.beside(node).sought.push((place, count));
        }
    }

    /// A candidate, or a neighbouring turn of one.
    fn beside(&mut self, node: NodeId) -> &mut Member {
        self.members.entry(node).or_insert_with(|| Member::new(node))
    }

    /// The candidates and neighbouring turns, with their features for the ranking.
    pub(super) fn into_members(self) -> Vec<Member> {
        self.members.into_values().collect()
    }
}
