//! The answer of a recall.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::{AsOf, Explanation, RecallQuery, Snippet, Strategy};
use crate::model::error::{Error, codes};
use crate::model::id::NodeId;
use crate::model::kept_recalls::KeptSearch;
use crate::model::nodes::Node;
use crate::model::rankings::RankingUsed;
use crate::model::relations::Predecessor;
use crate::model::tags::TagPath;
use crate::model::timeframe::{Applied, TimePhrase, Timeframe};

/// The answer of a recall: the hits, and the limits of the search.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Recalled {
    /// The hits, best first.
    pub hits: Vec<Hit>,
    /// The tags of the hits, the most frequent first.
    pub facets: Vec<Facet>,
    /// The requested strategy.
    pub strategy: Strategy,
    /// The choice of [`Strategy::Auto`]; none for other strategies.
    pub chosen: Option<Chosen>,
    /// Spell-corrections: unknown words and their replacements.
    pub corrected: Vec<Correction>,
    /// Whether the words of the required phrases were searched, because no memory in scope has the phrases.
    pub relaxed: bool,
    /// The resolved timeframe.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<crate::model::timeframe::TimeRange>))]
    pub timeframe: Timeframe,
    /// The time phrase that was taken from the query's text, with [`TimeFilter::Auto`](crate::TimeFilter::Auto).
    pub time_phrase: Option<TimePhrase>,
    /// Nodes in namespace and timeframe whose embedding is pending: vectors find them by a former text, or not at all.
    /// At most 1,001 are counted. For a building model or one of callers, only the latest 200 nodes are looked at. 0
    /// for full text, which needs no embedding.
    pub unembedded: i64,
    /// The labels of the searched models; empty without vectors.
    pub models: Vec<String>,
    /// The active model, if one on standby answered because this program has no embedder of the active one.
    pub instead_of: Option<String>,
    /// The kind of the vector search; none without vectors or vector hits.
    pub vector_search: Option<VectorSearch>,
    /// The steps that did not run, and why.
    pub degraded: Vec<Degraded>,
    /// Milliseconds for the query's embedding (0 if cached or not needed).
    pub embed_ms: f64,
    /// Milliseconds for the search, including network time.
    pub search_ms: f64,
    /// The searches that ran.
    pub legs: Vec<Leg>,
    /// Other phrasings that were searched.
    pub expansions: Vec<String>,
    /// Milliseconds for the expansion.
    pub expand_ms: f64,
    /// Milliseconds for the re-ranker.
    pub rerank_ms: f64,
    /// The time as of which the answer is, and its limits; none: now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub as_of: Option<AsOf>,
    /// The ranking that ordered the hits.
    pub ranking: RankingUsed,
    /// The id by which [feedback](crate::Htm::feedback) names this recall; none where learning is off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recall_id: Option<String>,
    /// The candidates, until the recall is kept.
    #[serde(skip)]
    pub(crate) kept: Option<KeptSearch>,
}

impl Recalled {
    /// The answer without hits, of a query that was resolved to a timeframe.
    pub(crate) fn empty(query: &RecallQuery, applied: Applied) -> Self {
        Self {
            hits: Vec::new(),
            facets: Vec::new(),
            strategy: query.strategy,
            chosen: None,
            corrected: Vec::new(),
            relaxed: false,
            timeframe: applied.timeframe,
            time_phrase: applied.phrase,
            unembedded: 0,
            models: Vec::new(),
            instead_of: None,
            vector_search: None,
            degraded: Vec::new(),
            embed_ms: 0.0,
            search_ms: 0.0,
            legs: Vec::new(),
            expansions: Vec::new(),
            expand_ms: 0.0,
            rerank_ms: 0.0,
            as_of: query.as_of.map(|at| AsOf::new(at, 0, false)),
            ranking: RankingUsed::default(),
            recall_id: None,
            kept: None,
        }
    }

    /// The nodes of the hits, the best first. They are the [`first`](crate::ContextOptions::first) of a context.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> {
        self.hits.iter().map(|hit| hit.node.id)
    }
}

/// A strategy that was chosen by the query.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Chosen {
    /// The strategy.
    pub strategy: Strategy,
    /// The reason.
    pub reason: ChosenFor,
}

/// The reason for a chosen strategy: the form of the query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, strum::Display)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum ChosenFor {
    /// It requires a phrase.
    #[strum(serialize = "a phrase in quotes")]
    Phrase,
    /// It is a question.
    #[strum(serialize = "a question")]
    Question,
    /// It has a prefix, as `migrat*`.
    #[strum(serialize = "the beginning of a word")]
    Prefix,
    /// It has identifiers, versions or codes, and few words beside.
    #[strum(serialize = "exact terms")]
    ExactTerms,
    /// It has words only.
    #[strum(serialize = "words")]
    Words,
}

/// A spell-corrected word.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Correction {
    /// The word of the query.
    pub asked: String,
    /// The replacement: the word with one edit, or the most similar stem.
    pub used: String,
}

/// The kind of a vector search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, strum::Display)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum VectorSearch {
    /// Every vector in scope was compared, because the scope, or its part that passes the filters, is small
    /// ([`RecallSettings::exact_scope`](crate::RecallSettings::exact_scope)), or because the model has no index.
    Exact,
    /// The index was searched until enough candidates passed the filters. They are approximately the nearest.
    Approximate,
}

/// A search for candidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, strum::Display)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Leg {
    /// All vectors in scope, compared exactly.
    Exact,
    /// The vectors of nodes that pass the filters, compared exactly.
    Narrow,
    /// The index of the vectors.
    Index,
    /// The words.
    Text,
    /// The words, by an index of pg_textsearch.
    Bm25,
}

/// A tag of hits.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Facet {
    /// The tag.
    pub tag: TagPath,
    /// The number of hits with it.
    pub hits: usize,
}

/// A step of a recall that may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, strum::Display, strum::IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Step {
    /// The search by vectors.
    Vector,
    /// The re-ranker.
    Rerank,
    /// The search for other phrasings.
    Expansion,
}

/// A step that did not run.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Degraded {
    /// The step.
    pub step: Step,
    /// The stable code of the reason.
    pub code: &'static str,
    /// The reason, for people.
    pub reason: String,
    /// The next step: the error's hint. Programs may name their own command instead.
    pub hint: String,
    /// The error.
    #[serde(skip)]
    pub error: Arc<Error>,
}

/// Equal if the same step failed for the same reason.
impl PartialEq for Degraded {
    fn eq(&self, other: &Self) -> bool {
        (self.step, self.code, &self.reason) == (other.step, other.code, &other.reason)
    }
}

impl Degraded {
    pub(crate) fn new(step: Step, error: Error) -> Self {
        let (code, reason) = (error.code(), error.to_string());
        // The errors' own hints are about jobs.
        let hint = match step {
            Step::Vector if error.is(codes::PROVIDER_TIMEOUT) => "raise the provider's timeout",
            Step::Vector if error.is(codes::PROVIDER_REFUSED_TEXT) => {
                "ask in other words, or use a model that knows them (`htm models pull`)"
            }
            Step::Rerank if error.is(codes::PROVIDER_TIMEOUT) => {
                "raise the re-ranker's timeout, or let it read fewer candidates"
            }
            Step::Expansion if error.is(codes::PROVIDER_TIMEOUT) => "raise the language model's timeout",
            _ if error.is(codes::PROVIDER_UNUSABLE_ANSWER) => {
                "ask again, or without this step; a larger model may do better"
            }
            _ => error.hint(),
        };
        Self { step, code, reason, hint: hint.to_owned(), error: Arc::new(error) }
    }

    /// Whether the hint is of the step. That of the error is about jobs then.
    pub fn has_own_hint(&self) -> bool {
        self.error.is(codes::PROVIDER_TIMEOUT)
            || self.error.is(codes::PROVIDER_UNUSABLE_ANSWER)
            || (self.step == Step::Vector && self.error.is(codes::PROVIDER_REFUSED_TEXT))
    }
}

/// A hit.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Hit {
    /// The node.
    #[serde(flatten)]
    pub node: Node,
    /// The scores that decide its place.
    pub scores: Scores,
    /// The number of times that it was a hit before. Saved in the background, so the last seconds may be missing.
    pub access_count: u64,
    /// When it was last a hit.
    pub last_accessed: Option<DateTime<Utc>>,
    /// The kind of match that found it.
    pub matched_by: MatchedBy,
    /// Its best excerpt, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub snippet: Option<Snippet>,
    /// The parts of its score, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Explanation>,
    /// Its folded near-duplicates, or the other passages of its document, the best first.
    pub folded: Vec<NodeId>,
    /// The memory that was found, if this one supersedes it and has taken its place
    /// ([`RecallQuery::follow`](crate::RecallQuery::follow)). The scores are those of the memory that was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub followed_from: Option<Predecessor>,
    /// The memories before it in its conversation or document, the earliest first, if requested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<Node>,
    /// The memories after it, the earliest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<Node>,
}

/// The scores of a hit. Larger is better; ranks count from 1. A query that is only a time has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Scores {
    /// The score, 0 to 1. The best hit has its similarity, its [`text_share`](Scores::text_share), or both by the
    /// vectors' weight. The scores of the other hits are in proportion to the values that order them, whose parts are
    /// in [`Explanation`](crate::Explanation). Of several models or phrasings, it is the best that a list gives the hit.
    pub score: f64,
    /// Cosine similarity, -1 to 1; none while the node's embedding is pending.
    pub similarity: Option<f64>,
    /// Whether the similarity is that of a former text, because the node was edited and its new embedding is pending.
    pub stale: bool,
    /// BM25, from 0, including adjacent words and exact terms.
    pub text: Option<f64>,
    /// [`text`](Scores::text) as a share of the highest possible score for this query, 0 to 1: comparable between
    /// queries.
    pub text_share: Option<f64>,
    /// Its rank among the vector candidates.
    pub vector_rank: Option<i64>,
    /// Its rank among the text candidates.
    pub text_rank: Option<i64>,
    /// Its share of the boosted tags, 0 to 1; none without boosted tags.
    pub tags: Option<f64>,
    /// Its relevance, 0 to 1, which orders the hits with boosted tags or requested weights; otherwise none.
    pub relevance: Option<f64>,
    /// The re-ranker's score, on its own scale, which orders the re-ranked hits.
    pub reranked: Option<f64>,
}

/// The kind of match that found a hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, strum::Display)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum MatchedBy {
    /// Its embedding is near the query's.
    Vector,
    /// It has words of the query.
    Text,
    /// Both.
    Both,
    /// The time, of a query that is only a time.
    Time,
    /// [Boosted](crate::RecallQuery::boost_tags) tags; neither its words nor its embedding.
    Tag,
    /// Vectors or words found a turn beside it.
    Neighbour,
}

/// The tags of hits, the most frequent first.
pub(crate) fn facets(hits: &[Hit]) -> Vec<Facet> {
    let mut counts: BTreeMap<&TagPath, usize> = BTreeMap::new();
    for tag in hits.iter().flat_map(|hit| &hit.node.tags) {
        *counts.entry(tag).or_default() += 1;
    }
    let mut facets: Vec<Facet> =
        counts.into_iter().map(|(tag, hits)| Facet { tag: tag.clone(), hits }).collect();
    facets.sort_by_key(|facet| Reverse(facet.hits));
    facets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_without_an_own_hint_has_that_of_its_error() {
        for step in [Step::Vector, Step::Rerank, Step::Expansion] {
            for (code, is_own) in [
                (codes::PROVIDER_TIMEOUT, true),
                (codes::PROVIDER_UNUSABLE_ANSWER, true),
                (codes::PROVIDER_REFUSED_TEXT, step == Step::Vector),
                (codes::PROVIDER_UNREACHABLE, false),
            ] {
                let degraded = Degraded::new(step, Error::new(code, "it failed"));
                assert_eq!((degraded.has_own_hint(), degraded.hint != code.hint), (is_own, is_own));
            }
        }
    }
}
