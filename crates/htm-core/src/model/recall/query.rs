//! The query of a recall: text, strategy, filters.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::model::error::{Error, Result, codes};
use crate::model::filter::{Filter, TagFilter, at_most, validate_limit, within};
use crate::model::memory::{MAX_TAGS, content_empty, validate_text};
use crate::model::relevance::RelevanceWeights;
use crate::model::timeframe::TimeFilter;
use crate::model::vectors::{unfit, validate_vector};
use crate::model::words::is_blank;

/// The most bytes of a query: more than the window of embedding models (8,192 tokens, about four bytes each).
pub const MAX_QUERY_BYTES: usize = 32 * 1024;

/// The most neighbours of a hit, on each side.
const MAX_NEIGHBOURS_OF_HIT: usize = 10;

/// The most models that a query is searched with: each is a search of its own.
const MAX_MODELS: usize = 8;

/// The search strategy of a recall.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[derive(
    Serialize,
    Deserialize,
    strum::Display,
    strum::EnumString,
    strum::AsRefStr,
    strum::IntoStaticStr,
    strum::VariantNames
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase", parse_err_ty = Error, parse_err_fn = no_strategy)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Strategy {
    /// By the query's embedding alone: the score is the cosine similarity.
    Vector,
    /// By the query's words alone: the score is BM25 as a share of the highest that the query can have.
    Fulltext,
    /// By both, fused.
    #[default]
    Hybrid,
    /// Chosen by the query. [`Recalled::chosen`](crate::Recalled::chosen) names the choice and the reason.
    Auto,
}

impl Strategy {
    /// The strategies that search. [`Strategy::Auto`] chooses one of them.
    pub const ALL: [Strategy; 3] = [Strategy::Vector, Strategy::Fulltext, Strategy::Hybrid];

    pub(crate) fn wants_vectors(self) -> bool {
        self != Strategy::Fulltext
    }
}

fn no_strategy(name: &str) -> Error {
    Error::new(codes::STRATEGY_UNKNOWN, format!("`{name}` is not a strategy"))
}

/// A query. Only the text is required.
#[derive(Clone, Debug)]
pub struct RecallQuery {
    /// The question or the words. `"a phrase"` is required if the text has only signs, and preferred beside words.
    /// `-word` is excluded, except in sentences. `word*` is a prefix. `17.2`, `--flag` and `a::b` rank first as
    /// written.
    pub text: String,
    /// The filter of the searched memories.
    pub filter: Filter,
    /// The strategy. Default: hybrid.
    pub strategy: Strategy,
    /// Preferred tags. With any of them, hits are ordered by [relevance](crate::RelevanceWeights). Nodes with these
    /// tags that are nearest to the query become candidates, unless the tags have more than 2,000 assignments.
    pub boost_tags: Vec<TagFilter>,
    /// Orders the candidates by relevance with these weights. Default with `boost_tags`: the weights of the
    /// [settings](crate::RecallSettings::relevance).
    pub order_by: Option<RelevanceWeights>,
    /// Whether hits count as accessed. Turn it off for evaluations.
    pub count_accesses: bool,
    /// Whether the hits' times to live start again.
    pub refresh: bool,
    /// The labels of the models to search; empty: the active one. The lists of several are fused by rank.
    pub models: Vec<String>,
    /// The query's vector by the searched model; none: it is embedded by the model's provider. With strategy `vector` the
    /// text may be empty.
    pub vector: Option<Vec<f32>>,
    /// The number of hits, 1 to 10,000.
    pub limit: usize,
    /// The least cosine similarity of vector hits, 0 to 1; none: the handle's. Text hits stay.
    pub min_similarity: Option<f64>,
    /// Whether to return a [`Snippet`](crate::Snippet) for each hit.
    pub snippets: bool,
    /// Whether to return an [`Explanation`](crate::Explanation) for each hit.
    pub explain: bool,
    /// Whether to spell-correct unknown words.
    pub correct: bool,
    /// Whether a re-ranker ([`Htm::with_reranker`](crate::Htm::with_reranker)), which reads query and text together,
    /// orders the first candidates.
    pub rerank: bool,
    /// Prefers hits that differ: 0 (score only) to 1 (novelty only), by maximal marginal relevance (Carbonell and
    /// Goldstein 1998).
    pub diversity: Option<f64>,
    /// Whether near-duplicates become one hit, which lists the others ([`Hit::folded`](crate::Hit::folded)).
    pub fold: bool,
    /// Whether the passages of a document become one hit, which lists the others ([`Hit::folded`](crate::Hit::folded)).
    pub fold_documents: bool,
    /// The number of neighbours to return of each hit in a conversation or a document, before and after it: at most 10. None
    /// are returned of a search as of an earlier time.
    pub neighbours: usize,
    /// Whether a language model ([`Htm::with_expander`](crate::Htm::with_expander)) rephrases the query; all phrasings
    /// are searched.
    pub expand: bool,
    /// Whether a memory that supersedes a hit takes its place, one step. It need not pass the filter.
    pub follow: bool,
    /// Answers as the memory stood at this time: with the memories that were remembered and not forgotten by then, and the
    /// texts that they had. Such a recall counts no accesses and refreshes nothing.
    pub as_of: Option<DateTime<Utc>>,
}

impl RecallQuery {
    pub(crate) fn is_refined(&self) -> bool {
        self.rerank
            || self.diversity.is_some()
            || self.fold
            || self.fold_documents
            || self.expand
            || self.models.len() > 1
    }

    /// A query for `text` with defaults for the rest: hybrid, 20 hits, no filter.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            filter: Filter::default(),
            strategy: Strategy::default(),
            boost_tags: Vec::new(),
            order_by: None,
            count_accesses: true,
            refresh: false,
            models: Vec::new(),
            vector: None,
            limit: 20,
            min_similarity: None,
            snippets: false,
            explain: false,
            correct: true,
            rerank: false,
            diversity: None,
            fold: false,
            fold_documents: false,
            neighbours: 0,
            expand: false,
            follow: false,
            as_of: None,
        }
    }

    /// Sets the filter.
    pub fn filter(mut self, filter: Filter) -> Self {
        self.filter = filter;
        self
    }

    /// Adds a namespace to the filter.
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.filter = self.filter.namespace(namespace);
        self
    }

    /// Sets the filter's timeframe.
    pub fn timeframe(mut self, timeframe: impl Into<TimeFilter>) -> Self {
        self.filter = self.filter.timeframe(timeframe);
        self
    }

    /// Adds a required tag to the filter.
    pub fn tag(mut self, tag: TagFilter) -> Self {
        self.filter = self.filter.tag(tag);
        self
    }

    /// Adds a robot to the filter.
    pub fn robot(mut self, robot: impl Into<String>) -> Self {
        self.filter = self.filter.robot(robot);
        self
    }

    /// Sets the filter's conversation.
    pub fn session(mut self, session: impl Into<String>) -> Self {
        self.filter = self.filter.session(session);
        self
    }

    /// Adds a kind to the filter.
    pub fn kind(mut self, kind: impl Into<String>) -> Self {
        self.filter = self.filter.kind(kind);
        self
    }

    /// Adds a model to search.
    pub fn model(mut self, label: impl Into<String>) -> Self {
        self.models.push(label.into());
        self
    }

    /// Sets the query's vector.
    pub fn vector(mut self, vector: Vec<f32>) -> Self {
        self.vector = Some(vector);
        self
    }

    /// Sets the strategy.
    pub fn strategy(mut self, strategy: Strategy) -> Self {
        self.strategy = strategy;
        self
    }

    /// Prefers a tag.
    pub fn boost(mut self, tag: TagFilter) -> Self {
        self.boost_tags.push(tag);
        self
    }

    /// Orders by relevance with these weights.
    pub fn order_by(mut self, weights: RelevanceWeights) -> Self {
        self.order_by = Some(weights);
        self
    }

    /// Sets the time as of which it answers.
    pub fn as_of(mut self, at: DateTime<Utc>) -> Self {
        self.as_of = Some(at);
        self
    }

    /// Sets the number of hits.
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// Sets the least similarity of vector hits.
    pub fn min_similarity(mut self, least: f64) -> Self {
        self.min_similarity = Some(least);
        self
    }

    /// Sets whether each hit has a snippet.
    pub fn snippets(mut self, snippets: bool) -> Self {
        self.snippets = snippets;
        self
    }

    /// Sets whether each hit is explained.
    pub fn explain(mut self, explain: bool) -> Self {
        self.explain = explain;
        self
    }

    /// Sets whether a re-ranker orders the first candidates.
    pub fn rerank(mut self, rerank: bool) -> Self {
        self.rerank = rerank;
        self
    }

    /// Sets whether near-duplicates become one hit.
    pub fn fold(mut self, fold: bool) -> Self {
        self.fold = fold;
        self
    }

    /// Whether its text says nothing: it is empty, white space, or a quotation of nothing.
    pub fn is_blank(&self) -> bool {
        is_blank(&self.text)
    }

    pub(crate) fn validate(&self) -> Result<()> {
        let needs_text =
            self.vector.is_none() || self.strategy != Strategy::Vector || self.rerank || self.expand;
        if needs_text && self.is_blank() {
            return Err(content_empty());
        }
        if let Some(vector) = &self.vector {
            validate_vector("query", vector)?;
            if self.models.len() > 1 || self.expand || self.strategy == Strategy::Fulltext {
                let what = "is of one model and one text: give it without `expand`, for one model, and not for strategy \
                            `fulltext`";
                return Err(unfit("query", what));
            }
        }
        validate_text("query", &self.text, MAX_QUERY_BYTES)?;
        self.filter.validate()?;
        at_most("models", self.models.len(), MAX_MODELS)?;
        at_most("boost_tags", self.boost_tags.len(), MAX_TAGS)?;
        if let Some(value) = self.min_similarity.filter(|value| !(0.0..=1.0).contains(value)) {
            let message = format!("the least similarity {value} is outside 0 to 1");
            return Err(Error::new(codes::MIN_SIMILARITY_OUT_OF_RANGE, message));
        }
        crate::model::refine::validate_diversity(self.diversity)?;
        within("neighbours", self.neighbours, 0..=MAX_NEIGHBOURS_OF_HIT)?;
        validate_limit(self.limit)
    }
}
