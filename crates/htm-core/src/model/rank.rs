//! The ranking: the order of the candidates, from the database's data about them. Pure. Most numbers that decide are
//! here and in `rank/`; [`RecallSettings`] has the weights of the legs and the size of the pool.
//!
//! BM25 weighs the words (`bm25.rs`), a fusion makes one score of both legs (`fusion.rs`), and turns of a conversation
//! get a share of their neighbours' scores (`neighbours.rs`). A speaker, a month or exact terms that the query names
//! add to the score. Each hit keeps the parts of its score. `rank/measures.md` has the gain of each step.

mod bm25;
mod features;
mod fusion;
mod interleave;
mod learnt;
mod neighbours;
mod query;
mod terms;
mod text_vector;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::Arc;

use bm25::Bm25;
pub(crate) use bm25::idf;
use features::Reference;
pub use features::{COUNT as FEATURE_COUNT, FEATURES, FeatureVector, VERSION as FEATURE_VERSION};
pub(crate) use interleave::team_draft;
pub use learnt::{Learnt, Tree, TreeNode};
pub(crate) use neighbours::{Conversation, Link, Turn, links};
use query::Pair;
pub(crate) use query::{Asked, Corpus, Lexeme, Sought, Word};
pub(crate) use terms::{TermCounter, Terms, texts_with};
pub(crate) use text_vector::TextVector;

use chrono::{DateTime, Utc};

use crate::model::id::NodeId;
use crate::model::recall::{Fusion, RecallSettings};

/// A candidate or a turn beside one, with the data for its ranking.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Member {
    pub(crate) id: NodeId,
    /// Its ranks among the candidates of each leg, from 1.
    pub(crate) vector_rank: Option<i64>,
    pub(crate) text_rank: Option<i64>,
    /// Whether it is a candidate by a preferred tag.
    pub(crate) by_tag: bool,
    /// The cosine; none while it has no embedding.
    pub(crate) similarity: Option<f64>,
    /// The query's words in its text.
    pub(crate) terms: Terms,
    /// The indexes of [`Asked::sought`] that it has, each with the frequency.
    pub(crate) sought: Vec<(usize, f64)>,
    /// Whether the query names its speaker.
    pub(crate) is_of_speaker: bool,
    /// Whether the query names its month.
    pub(crate) is_of_month: bool,
    /// Its time; none without data.
    pub(crate) created_at: Option<DateTime<Utc>>,
}

impl Member {
    /// A node that no leg has found, without data yet.
    pub(crate) fn new(id: NodeId) -> Self {
        Self {
            id,
            vector_rank: None,
            text_rank: None,
            by_tag: false,
            similarity: None,
            terms: Terms::default(),
            sought: Vec::new(),
            is_of_speaker: false,
            is_of_month: false,
            created_at: None,
        }
    }

    fn is_candidate(&self) -> bool {
        self.vector_rank.is_some() || self.text_rank.is_some()
    }
}

/// The settings of a ranking.
#[derive(Clone, Debug)]
pub(crate) struct Ranking {
    /// The legs of the query.
    pub(crate) by_text: bool,
    pub(crate) by_vector: bool,
    pub(crate) fusion: Fusion,
    /// The vectors' share of the sum, 0 to 1; the text has the rest.
    pub(crate) weight_vector: f64,
    /// A learnt ranking, for the sum of both legs.
    pub(crate) learnt: Option<Arc<Learnt>>,
    /// Whether the features of each candidate are returned.
    pub(crate) keeps_features: bool,
}

/// The bonus of a node when the query names its speaker.
const SPEAKER: f64 = 0.15;

/// The bonus of a node when the query names its month.
const MONTH: f64 = 0.3;

/// The largest bonus of a node that contains the query's exact terms as written.
const EXACT: f64 = 0.5;

impl Ranking {
    pub(crate) fn new(settings: &RecallSettings, by_text: bool, by_vector: bool) -> Self {
        let (fusion, weight_vector) = (settings.fusion, settings.weight_vector);
        Self { by_text, by_vector, fusion, weight_vector, learnt: None, keeps_features: false }
    }

    /// Whether the scores of both legs are added, so that the bonuses can be weighed against them.
    pub(crate) fn is_sum(&self) -> bool {
        self.by_text && self.by_vector && self.fusion == Fusion::Convex
    }
}

/// A candidate with its score.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ranked {
    pub(crate) id: NodeId,
    pub(crate) vector_rank: Option<i64>,
    pub(crate) text_rank: Option<i64>,
    pub(crate) by_tag: bool,
    pub(crate) similarity: Option<f64>,
    /// The BM25 score; none without the text leg.
    pub(crate) text: Option<f64>,
    /// The BM25 score as a share of the highest possible one for this query.
    pub(crate) text_share: Option<f64>,
    /// None if only vectors are searched and it has no embedding.
    pub(crate) score: Option<f64>,
    /// The parts of its score by the default ranking.
    pub(crate) parts: Parts,
    /// Its features, if they were asked for or a learnt ranking weighs them.
    pub(crate) features: Option<FeatureVector>,
}

impl Ranked {
    /// Whether a leg has found it: it is not only beside a turn that one has found.
    pub(crate) fn is_candidate(&self) -> bool {
        self.vector_rank.is_some() || self.text_rank.is_some() || self.by_tag
    }
}

/// The parts of the score by the default ranking, which is their sum.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Parts {
    pub(crate) vector: f64,
    /// The words, without the next two parts.
    pub(crate) words: f64,
    pub(crate) together: f64,
    pub(crate) exact: f64,
    pub(crate) neighbours: f64,
    pub(crate) speaker: f64,
    pub(crate) time: f64,
}

/// The members by their score, best first; of equal scores, the newest first.
pub(crate) fn rank(asked: &Asked, ranking: &Ranking, members: Vec<Member>, links: &[Link]) -> Vec<Ranked> {
    let has_phrase = asked.has_phrase;
    let bm25 = Bm25::new(asked, &members);
    let scored: Vec<(Member, bm25::Score)> = members
        .into_iter()
        .map(|mut member| {
            let score = if ranking.by_text { bm25.score(&member) } else { bm25::Score::default() };
            // A candidate of full text that has nothing of the query is no candidate of the text leg.
            let is_of_text = score.total > 0.0 || has_phrase;
            let stays = is_of_text || member.text_rank.is_none() || member.vector_rank.is_some();
            member.text_rank = member.text_rank.filter(|_| is_of_text);
            (stays, member, score)
        })
        .filter(|(stays, ..)| *stays)
        .map(|(_, member, score)| (member, score))
        .collect();
    let bounds = fusion::Bounds::of(&scored);
    let fused: Vec<fusion::Fused> =
        scored.iter().map(|(member, text)| bounds.fuse(ranking, member, text)).collect();
    let shares = neighbours::shares(&scored, &fused, links);
    let wants_features = ranking.is_sum() && (ranking.learnt.is_some() || ranking.keeps_features);
    let reference = wants_features.then(|| Reference::of(&scored, &bm25));
    let most = bm25.most();
    let mut ranked: Vec<Ranked> = scored
        .into_iter()
        .zip(fused)
        .enumerate()
        .map(|(at, ((member, text), fused))| {
            let beside = shares.get(&member.id).copied().unwrap_or_default();
            let parts = ranking.parts(&member, &text, fused, &beside, asked);
            let features = reference
                .as_ref()
                .map(|reference| reference.features(at, (&member, &text), &parts, &beside, &bm25, asked));
            let score = match (&ranking.learnt, &features) {
                (Some(learnt), Some(features)) => Some(learnt.score(features)),
                _ => fused.vector.map(|_| parts.sum()),
            };
            Ranked {
                id: member.id,
                vector_rank: member.vector_rank,
                text_rank: member.text_rank,
                by_tag: member.by_tag,
                similarity: member.similarity,
                text: ranking.by_text.then_some(text.total),
                text_share: ranking.by_text.then_some(if most > 0.0 { text.total / most } else { 0.0 }),
                score,
                parts,
                features,
            }
        })
        .collect();
    ranked.sort_by(|a, b| {
        let score = |ranked: &Ranked| ranked.score.unwrap_or(f64::NEG_INFINITY);
        score(b).total_cmp(&score(a)).then(b.id.cmp(&a.id))
    });
    ranked
}

impl Ranking {
    fn parts(
        &self,
        member: &Member,
        text: &bm25::Score,
        fused: fusion::Fused,
        beside: &neighbours::Neighbours,
        asked: &Asked,
    ) -> Parts {
        let is_sum = self.is_sum();
        let named = |is_named: bool, weight: f64| if is_sum && is_named { weight } else { 0.0 };
        let share = |part: f64| if text.total > 0.0 { fused.text * part / text.total } else { 0.0 };
        let (together, exact) = (share(text.together), share(text.exact));
        let prior = if is_sum { EXACT * asked.exact_share(text.exact_idf) } else { 0.0 };
        Parts {
            vector: fused.vector.unwrap_or(0.0),
            words: fused.text - together - exact,
            together,
            exact: exact + prior,
            neighbours: beside.next + beside.further,
            speaker: named(member.is_of_speaker, SPEAKER),
            time: named(member.is_of_month, MONTH),
        }
    }
}

impl Parts {
    pub(crate) fn sum(&self) -> f64 {
        let Self { vector, words, together, exact, neighbours, speaker, time } = self;
        vector + words + together + exact + neighbours + speaker + time
    }
}

/// The nodes in the order of a learnt ranking (none: of the default one), which weighs the same features.
pub(crate) fn in_order_of(ranked: &[Ranked], learnt: Option<&Learnt>) -> Vec<NodeId> {
    let score = |it: &Ranked| match (learnt, &it.features) {
        (Some(learnt), Some(features)) => learnt.score(features),
        _ => it.parts.sum(),
    };
    let mut scored: Vec<(f64, NodeId)> = ranked.iter().map(|it| (score(it), it.id)).collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
    scored.into_iter().map(|(_, id)| id).collect()
}

/// The gains from neighbours, by node.
type Shares = HashMap<NodeId, neighbours::Neighbours>;
