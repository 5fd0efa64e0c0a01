//! What to find: the query, its strategy, its filters.

use std::fmt;
use std::str::FromStr;

use serde_json::{Map, Value};

use crate::model::error::{Error, Result, codes};
use crate::model::memory::{content_empty, validate_metadata, validate_text};
use crate::model::relevance::RelevanceWeights;
use crate::model::tags::TagPath;
use crate::model::timeframe::TimeFilter;

/// The most hits that one recall gives.
pub const MAX_LIMIT: usize = 10_000;

/// The most bytes that a query may have: more than embedding models read at once (8,192 tokens, about four bytes each).
pub const MAX_QUERY_BYTES: usize = 32 * 1024;

/// How recall searches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Strategy {
    /// By the query's embedding alone: the score is the cosine similarity.
    Vector,
    /// By the query's words alone: the score is BM25.
    Fulltext,
    /// By both, fused.
    #[default]
    Hybrid,
    /// By what the query looks like: [`Recalled::chosen`](crate::Recalled::chosen) says which of the others, and why.
    Auto,
}

impl Strategy {
    /// Those that search; [`Strategy::Auto`] is one of them each time.
    pub const ALL: [Strategy; 3] = [Strategy::Vector, Strategy::Fulltext, Strategy::Hybrid];

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Strategy::Vector => "vector",
            Strategy::Fulltext => "fulltext",
            Strategy::Hybrid => "hybrid",
            Strategy::Auto => "auto",
        }
    }

    pub(crate) fn wants_vectors(self) -> bool {
        self != Strategy::Fulltext
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Strategy {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Strategy::ALL
            .into_iter()
            .chain([Strategy::Auto])
            .find(|strategy| strategy.as_str() == name)
            .ok_or_else(|| Error::new(codes::STRATEGY_UNKNOWN, format!("`{name}` is not a strategy")))
    }
}

/// A tag that hits must have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TagFilter {
    /// This tag.
    Exact(TagPath),
    /// This tag or one below it: `data` takes in `data:x`, never `database`.
    Prefix(TagPath),
}

/// What to find. Only the text is needed.
#[derive(Clone, Debug)]
pub struct RecallQuery {
    /// The question, or the words. `"a phrase"` must be in a hit where the text is nothing but signs, and is preferred
    /// beside words; `-word` must not be in a hit, except that sentences have no such sign; `word*` is the beginning of
    /// words; `17.2`, `--flag`, `a::b` come first where they are written so.
    pub text: String,
    /// Where: in any of these; none is the handle's namespace. An unknown one is empty.
    pub namespaces: Vec<String>,
    /// How; hybrid unless said otherwise.
    pub strategy: Strategy,
    /// When the memory was made.
    pub timeframe: TimeFilter,
    /// Tags that a hit must have.
    pub tags: Vec<TagFilter>,
    /// One of the tags is enough; else all are needed.
    pub any_tag: bool,
    /// Tags that a hit had better have: with any of them, hits are ordered by their [relevance](crate::RelevanceWeights).
    /// What has them is a candidate as well, the nearest to the query, unless more than 2,000 assignments are of these tags.
    pub boost_tags: Vec<TagFilter>,
    /// Orders the candidates by their relevance with these weights; with `boost_tags` and none given, by those of the
    /// [settings](crate::RecallSettings::relevance).
    pub rerank: Option<RelevanceWeights>,
    /// Whether the hits count as accessed; an evaluation leaves no trace.
    pub count_accesses: bool,
    /// Only what any of these robots remembered.
    pub robots: Vec<String>,
    /// Only what was said in this conversation.
    pub session: Option<String>,
    /// The labels of the models whose vectors are searched; none is the one that recall asks
    /// ([`Settings::recall_model`](crate::Settings::recall_model)). The lists of several are fused by rank.
    pub models: Vec<String>,
    /// What a hit's metadata must contain: the same values under the same names, at any depth, and others besides.
    pub metadata: Map<String, Value>,
    /// How many hits, 1 to 10,000.
    pub limit: usize,
    /// The least cosine similarity, 0 to 1, that vectors may bring; none is the handle's. What the words bring stays.
    pub min_similarity: Option<f64>,
    /// Whether each hit is to have a [`Snippet`](crate::Snippet).
    pub snippets: bool,
    /// Whether each hit is to have an [`Explanation`](crate::Explanation).
    pub explain: bool,
    /// Whether words that no node has are taken for those that were meant; else they find nothing.
    pub correct: bool,
    /// The first candidates are ordered by a re-ranker ([`Htm::with_reranker`](crate::Htm::with_reranker)), which reads
    /// query and text together.
    pub cross_encode: bool,
    /// Hits that differ from one another: 0 (only relevance counts) to 1 (only novelty); maximal marginal relevance
    /// (Carbonell and Goldstein 1998).
    pub diversity: Option<f64>,
    /// Near-duplicates are one hit, which names the others ([`Hit::folded`](crate::Hit::folded)).
    pub fold: bool,
    /// A language model says the query in other words too ([`Htm::with_expander`](crate::Htm::with_expander)), and all of
    /// them are searched for.
    pub expand: bool,
}

impl RecallQuery {
    pub(crate) fn is_refined(&self) -> bool {
        self.cross_encode || self.diversity.is_some() || self.fold || self.expand || self.models.len() > 1
    }

    /// A query for `text` with defaults for the rest: hybrid, 20 hits, no filter.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            namespaces: Vec::new(),
            strategy: Strategy::default(),
            timeframe: TimeFilter::default(),
            tags: Vec::new(),
            any_tag: false,
            boost_tags: Vec::new(),
            rerank: None,
            count_accesses: true,
            robots: Vec::new(),
            session: None,
            models: Vec::new(),
            metadata: Map::new(),
            limit: 20,
            min_similarity: None,
            snippets: false,
            explain: false,
            correct: true,
            cross_encode: false,
            diversity: None,
            fold: false,
            expand: false,
        }
    }

    /// Looks in a namespace, beside those that were named before.
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespaces.push(namespace.into());
        self
    }

    /// Takes what a robot remembered, beside those that were named before.
    pub fn robot(mut self, robot: impl Into<String>) -> Self {
        self.robots.push(robot.into());
        self
    }

    /// Searches a model's vectors, beside those that were named before.
    pub fn model(mut self, label: impl Into<String>) -> Self {
        self.models.push(label.into());
        self
    }

    /// Sets the strategy.
    pub fn strategy(mut self, strategy: Strategy) -> Self {
        self.strategy = strategy;
        self
    }

    /// Sets the timeframe: a [`Timeframe`](crate::Timeframe), a [`TimeExpression`](crate::TimeExpression), or
    /// [`TimeFilter::Auto`].
    pub fn timeframe(mut self, timeframe: impl Into<TimeFilter>) -> Self {
        self.timeframe = timeframe.into();
        self
    }

    /// Asks for a tag.
    pub fn tag(mut self, tag: TagFilter) -> Self {
        self.tags.push(tag);
        self
    }

    /// Prefers what has a tag to what has not.
    pub fn boost(mut self, tag: TagFilter) -> Self {
        self.boost_tags.push(tag);
        self
    }

    /// Asks for an entry of the metadata.
    pub fn metadata(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.metadata.insert(name.into(), value.into());
        self
    }

    /// Orders by relevance with these weights.
    pub fn rerank(mut self, weights: RelevanceWeights) -> Self {
        self.rerank = Some(weights);
        self
    }

    /// Sets how many hits.
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// Sets the least similarity that vectors may bring.
    pub fn min_similarity(mut self, least: f64) -> Self {
        self.min_similarity = Some(least);
        self
    }

    pub(crate) fn validate(&self) -> Result<()> {
        if self.text.trim().is_empty() {
            return Err(content_empty());
        }
        validate_text("query", &self.text, MAX_QUERY_BYTES)?;
        validate_metadata(&self.metadata)?;
        if let Some(value) = self.min_similarity.filter(|value| !(0.0..=1.0).contains(value)) {
            let message = format!("the least similarity {value} is outside 0 to 1");
            return Err(Error::new(codes::MIN_SIMILARITY_OUT_OF_RANGE, message));
        }
        crate::model::refine::validate_diversity(self.diversity)?;
        validate_scope(&self.namespaces, &self.robots, self.session.as_deref(), self.limit)
    }
}

pub(crate) fn limit_out_of_range(limit: usize) -> Error {
    Error::new(codes::LIMIT_OUT_OF_RANGE, format!("limit {limit} is outside 1 to 10,000"))
}

/// What every question has, whatever it asks.
pub(crate) fn validate_scope(
    namespaces: &[String],
    robots: &[String],
    session: Option<&str>,
    limit: usize,
) -> Result<()> {
    if !(1..=MAX_LIMIT).contains(&limit) {
        return Err(limit_out_of_range(limit));
    }
    for (field, names) in [("namespace", namespaces), ("robot", robots)] {
        for name in names {
            crate::model::memory::validate_name(field, name, 128)?;
        }
    }
    crate::model::memory::validate_session(session)
}
