//! Ranking: from what the database says of the candidates to their order. Pure; each number that decides is here.
//!
//! BM25 weighs the words (`bm25.rs`), a fusion makes one score of both legs (`fusion.rs`), and turns of a conversation take
//! a share of their neighbours' (`neighbours.rs`). What the query names besides (a speaker, a month, terms as they are
//! written) adds to it. Each hit keeps the parts of its score.
//!
//! What each step gained, as recall of relevant nodes among the first ten hits and nDCG at ten, hybrid
//! with all-MiniLM-L6-v2. The steps were measured one upon the other, on 786 questions about conversations in short
//! turns and 150 claims to be found in abstracts; each constant stands on a plateau, not on a peak.
//!
//! | step | short turns | abstracts |
//! |---|---|---|
//! | both legs, both scores for each candidate, convex sum | .672 .503 | .858 .705 |
//! | neighbouring turns, weight .3 (.2 to .4 give the same) | .741 .533 | no conversations |
//! | BM25 with 30 lexemes added to each length (15 to 100) | .747 .560 | .858 .702 |
//! | a month named (98 of 786 questions name one), .3 (.2 to .5) | .769 .580 | – |
//! | a speaker named, .15 (.1 to .3) | .784 .609 | – |
//! | a word in a long text's opening counts two more (1 to 3) | no long texts | .878 .710 |
//! | letters swapped (claims have misspellings of their own) | – | .884 .710 |
//! | words together as in the query, .3 of the rarer one's weight (.25 gives the same) | .786 .611 | .891 .716 |
//! | neighbours as far as they are better than usual (.2 to .4: .778 to .794) | .790 .613 | – |
//! | without what a text's length alone brings | .790 .613 | .891 .718 |
//!
//! Neighbours. A share of them that is only added puts turns before texts that stand for themselves; what two candidates
//! would bring by chance is taken off, and the conversations gain as well:
//!
//! | | none | .15 added | .3 added | .3, better than usual |
//! |---|---|---|---|---|
//! | the demo, 32 questions, short conversations among notes | .974 .803 | .974 .775 | .932 .755 | .974 .790 |
//! | the short turns, half of their sessions made notes | .726 .578 | .739 .580 | .709 .557 | .762 .591 |
//! | the short turns, a fifth with a long answer on its subject | .689 .557 | .704 .567 | .724 .571 | .726 .581 |
//!
//! Length. Among a query's candidates, what BM25 grows by with a text's length is taken off, from 64 lexemes (a turn) to 128.
//! Where texts are of one length this changes nothing. It is no merit of abstracts among sentences (.923 .816, then .923
//! .813), and brings forward what long texts crowd out: turns that have a long answer each, on their subject (.623 .475,
//! then .638 .488), and turns among long notes on other matters (.761 .599, then .771 .604). From 32 or 45 lexemes it
//! brings a little more there and costs the short turns, or abstracts among sentences, .002 to .008.
//!
//! One pair of letters swapped in each query's rarest word costs .04 and .03 of recall (.13 and .08 without the steps for
//! words that no node has).
//!
//! Rank fusion in place of the sum has .829 .681 on the abstracts, and .593 .431 on a quarter of the questions, of which the
//! sum has .751 .599.
//!
//! What gained nothing on either, or lost on one what it gained on the other: other normalisations, weighting by the share
//! of the query's words, larger pools, feedback from the first hits, a vector a sentence; neighbours weighted by their
//! similarity to the turn; a score a class of length. Only the neighbours of the 50 best candidates: a fifth of the time less,
//! the same on the short turns, but .517 .405 for .525 .408 on long answers among short messages.
//!
//! Full text alone, with lengths in words, b 1 and k1 1, beside lengths in distinct lexemes, .75 and 1.2, and beside a
//! textbook's BM25 (bm25s 0.2 with stems):
//!
//! | | before | now | textbook |
//! |---|---|---|---|
//! | abstracts | .807 .674 | .820 .679 | .820 .648 |
//! | long answers among short messages | .365 .245 | .428 .327 | .409 .320 |
//! | messages | .623 .518 | .623 .529 | .632 .530 |
//! | short turns | .621 .496 | .619 .493 | .540 .407 |
//!
//! Hybrid gains on the long answers (.517 .378, then .525 .408) and stays within .002 elsewhere. Without smoothing, messages
//! gain .018 and short turns lose .016. With b .75 the long answers have .402 .283.

mod bm25;
mod fusion;
mod neighbours;
mod query;
mod terms;
mod text_vector;

#[cfg(test)]
mod tests;

use std::collections::HashMap;

use bm25::Bm25;
pub(crate) use bm25::idf;
pub(crate) use neighbours::{Link, Turn, links};
use query::Pair;
pub(crate) use query::{Asked, Corpus, Lexeme, Sought, Word};
pub(crate) use terms::{TermCounter, Terms};
pub(crate) use text_vector::TextVector;

use crate::model::id::NodeId;
use crate::model::recall::{Fusion, RecallSettings};

/// What the ranking knows of a candidate, or of the turn beside one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Member {
    pub(crate) id: NodeId,
    /// Its places among the candidates of each leg, from 1.
    pub(crate) vector_rank: Option<i64>,
    pub(crate) text_rank: Option<i64>,
    /// Whether it is a candidate by a tag that hits had better have.
    pub(crate) by_tag: bool,
    /// Cosine; none while it has no embedding.
    pub(crate) similarity: Option<f64>,
    /// What its text has of the query's words.
    pub(crate) terms: Terms,
    /// Which of [`Asked::sought`] it has, and how often.
    pub(crate) sought: Vec<(usize, f64)>,
    /// The query names its speaker.
    pub(crate) is_of_speaker: bool,
    /// The query names the month that it is of.
    pub(crate) is_of_month: bool,
}

impl Member {
    /// A node that no leg has brought, and of which nothing is known yet.
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
        }
    }

    fn is_candidate(&self) -> bool {
        self.vector_rank.is_some() || self.text_rank.is_some()
    }
}

/// How the candidates are ranked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ranking {
    /// Which legs the query has.
    pub(crate) by_text: bool,
    pub(crate) by_vector: bool,
    pub(crate) fusion: Fusion,
    /// The vectors' share of the sum, 0 to 1; the text has the rest.
    pub(crate) weight_vector: f64,
}

/// What a node has more when the query names its speaker.
const SPEAKER: f64 = 0.15;

/// What a node has more when the query names the month that it is of.
const MONTH: f64 = 0.3;

/// What a node has more that contains the query's exact terms as written.
const EXACT: f64 = 0.5;

impl Ranking {
    pub(crate) fn new(settings: &RecallSettings, by_text: bool, by_vector: bool) -> Self {
        Self { by_text, by_vector, fusion: settings.fusion, weight_vector: settings.weight_vector }
    }

    /// Both legs, whose scores are added: what the query names besides can be weighed against them.
    fn is_sum(&self) -> bool {
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
    /// BM25; none without words.
    pub(crate) text: Option<f64>,
    /// The share that it is of the most that a node could have for this query.
    pub(crate) text_share: Option<f64>,
    /// None: the vectors do not know it, and nothing else was asked.
    pub(crate) score: Option<f64>,
    pub(crate) parts: Parts,
}

/// What the score is made of: they add up to it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Parts {
    pub(crate) vector: f64,
    /// Without what follows.
    pub(crate) words: f64,
    pub(crate) together: f64,
    pub(crate) exact: f64,
    pub(crate) neighbours: f64,
    pub(crate) speaker: f64,
    pub(crate) time: f64,
}

/// The members by their score, best first; what is equal, the newest first.
pub(crate) fn rank(asked: &Asked, ranking: &Ranking, members: Vec<Member>, links: &[Link]) -> Vec<Ranked> {
    let has_phrase = asked.has_phrase;
    let bm25 = Bm25::new(asked, &members);
    let scored: Vec<(Member, bm25::Score)> = members
        .into_iter()
        .map(|mut member| {
            let score = if ranking.by_text { bm25.score(&member) } else { bm25::Score::default() };
            // A candidate that has nothing of the query, though full text thought so, is none of the text.
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
    let most = bm25.most();
    let mut ranked: Vec<Ranked> = scored
        .into_iter()
        .zip(fused)
        .map(|((member, text), fused)| {
            let neighbours = shares.get(&member.id).copied().unwrap_or(0.0);
            ranking.ranked(member, &text, fused, neighbours, asked, most)
        })
        .collect();
    ranked.sort_by(|a, b| {
        let score = |ranked: &Ranked| ranked.score.unwrap_or(f64::NEG_INFINITY);
        score(b).total_cmp(&score(a)).then(b.id.cmp(&a.id))
    });
    ranked
}

impl Ranking {
    fn ranked(
        &self,
        member: Member,
        text: &bm25::Score,
        fused: fusion::Fused,
        neighbours: f64,
        asked: &Asked,
        most: f64,
    ) -> Ranked {
        let is_sum = self.is_sum();
        let named = |is_named: bool, weight: f64| if is_sum && is_named { weight } else { 0.0 };
        let share = |part: f64| if text.total > 0.0 { fused.text * part / text.total } else { 0.0 };
        let (together, exact) = (share(text.together), share(text.exact));
        let prior = if is_sum { EXACT * asked.exact_share(text.exact_idf) } else { 0.0 };
        let parts = Parts {
            vector: fused.vector.unwrap_or(0.0),
            words: fused.text - together - exact,
            together,
            exact: exact + prior,
            neighbours,
            speaker: named(member.is_of_speaker, SPEAKER),
            time: named(member.is_of_month, MONTH),
        };
        Ranked {
            id: member.id,
            vector_rank: member.vector_rank,
            text_rank: member.text_rank,
            by_tag: member.by_tag,
            similarity: member.similarity,
            text: self.by_text.then_some(text.total),
            text_share: self.by_text.then_some(if most > 0.0 { text.total / most } else { 0.0 }),
            score: fused.vector.map(|_| parts.sum()),
            parts,
        }
    }
}

impl Parts {
    pub(crate) fn sum(&self) -> f64 {
        let Self { vector, words, together, exact, neighbours, speaker, time } = self;
        vector + words + together + exact + neighbours + speaker + time
    }
}

/// By node.
type Shares = HashMap<NodeId, f64>;
