//! Recall: finding by vector, by full text, and by both.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::time::Instant;

use chrono::{DateTime, Utc};
use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::htm::Htm;
use crate::id::NodeId;
use crate::memory::refuse_nul_in_json;
use crate::node::Node;
use crate::refine::RefineSettings;
use crate::relevance::RelevanceWeights;
use crate::store::recall;
use crate::tag::TagPath;
use crate::timeframe::{Applied, TimeFilter, TimePhrase, Timeframe};
use crate::timeline::TimelineQuery;

/// The most hits that one recall gives.
pub const MAX_LIMIT: usize = 10_000;

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
}

impl Strategy {
    /// All of them.
    pub const ALL: [Strategy; 3] = [Strategy::Vector, Strategy::Fulltext, Strategy::Hybrid];

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Strategy::Vector => "vector",
            Strategy::Fulltext => "fulltext",
            Strategy::Hybrid => "hybrid",
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
            .find(|strategy| strategy.as_str() == name)
            .ok_or_else(|| Error::StrategyUnknown { value: name.into() })
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
    /// The question, or the words.
    pub text: String,
    /// Where; none is the handle's namespace. An unknown one is empty.
    pub namespace: Option<String>,
    /// How; hybrid unless said otherwise.
    pub strategy: Strategy,
    /// When the memory was made.
    pub timeframe: TimeFilter,
    /// Tags that a hit must have.
    pub tags: Vec<TagFilter>,
    /// One of the tags is enough; else all are needed.
    pub any_tag: bool,
    /// Tags that a hit had better have: with any of them, hits are ordered by their [relevance](RelevanceWeights).
    pub boost_tags: Vec<TagFilter>,
    /// Orders the candidates by their relevance with these weights; with `boost_tags` and none given, by those of the
    /// [settings](RecallSettings::relevance).
    pub rerank: Option<RelevanceWeights>,
    /// Whether the hits count as accessed; an evaluation leaves no trace.
    pub count_accesses: bool,
    /// Only what this robot remembered.
    pub robot: Option<String>,
    /// Only what was said in this conversation.
    pub session: Option<String>,
    /// What a hit's metadata must contain: the same values under the same names, at any depth, and others besides.
    pub metadata: Map<String, Value>,
    /// How many hits, 1 to 10,000.
    pub limit: usize,
    /// The first candidates are ordered by a re-ranker ([`Htm::with_reranker`]), which reads query and text together.
    pub cross_encode: bool,
    /// Hits that differ from one another: 0 (only relevance counts) to 1 (only novelty); maximal marginal relevance
    /// (Carbonell and Goldstein 1998).
    pub diversity: Option<f64>,
    /// Near-duplicates are one hit, which names the others ([`Hit::folded`]).
    pub fold: bool,
    /// A language model says the query in other words too ([`Htm::with_expander`]), and all of them are searched for.
    pub expand: bool,
}

impl RecallQuery {
    /// A query for `text` with defaults for the rest: hybrid, 20 hits, no filter.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            namespace: None,
            strategy: Strategy::default(),
            timeframe: TimeFilter::default(),
            tags: Vec::new(),
            any_tag: false,
            boost_tags: Vec::new(),
            rerank: None,
            count_accesses: true,
            robot: None,
            session: None,
            metadata: Map::new(),
            limit: 20,
            cross_encode: false,
            diversity: None,
            fold: false,
            expand: false,
        }
    }

    /// Sets the namespace.
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = Some(namespace.into());
        self
    }

    /// Sets the strategy.
    pub fn strategy(mut self, strategy: Strategy) -> Self {
        self.strategy = strategy;
        self
    }

    /// Sets the timeframe: a [`Timeframe`], a [`TimeExpression`](crate::TimeExpression), or
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

    fn validate(&self) -> Result<()> {
        if self.text.trim().is_empty() {
            return Err(Error::ContentEmpty);
        }
        if let Some(position) = self.text.bytes().position(|byte| byte == 0) {
            return Err(Error::NulByte { field: "query", position });
        }
        refuse_nul_in_json(&self.metadata)?;
        crate::refine::validate_diversity(self.diversity)?;
        validate_scope(self.namespace.as_deref(), self.robot.as_deref(), self.session.as_deref(), self.limit)
    }
}

/// What every question has, whatever it asks.
pub(crate) fn validate_scope(
    namespace: Option<&str>,
    robot: Option<&str>,
    session: Option<&str>,
    limit: usize,
) -> Result<()> {
    if !(1..=MAX_LIMIT).contains(&limit) {
        return Err(Error::LimitOutOfRange { value: limit as u64 });
    }
    for (field, name) in [("namespace", namespace), ("robot", robot)] {
        if let Some(name) = name {
            crate::memory::validate_name(field, name, 128)?;
        }
    }
    crate::memory::validate_session(session)
}

/// How both legs are fused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Fusion {
    /// A weighted sum of both scores, each min–max-normalised over the union of the candidates (Bruch et al. 2023,
    /// "An Analysis of Fusion Functions for Hybrid Retrieval").
    #[default]
    Convex,
    /// The sum of 1 / (60 + rank) over the legs (Cormack et al. 2009, "Reciprocal Rank Fusion").
    Rrf,
}

/// What decides how recall searches; from the configuration.
#[derive(Clone, Debug)]
pub struct RecallSettings {
    /// Candidates that each leg retrieves; at least the limit of the query.
    pub pool: usize,
    /// Weight of the vectors in the convex sum, 0 to 1; the text has the rest.
    pub weight_vector: f64,
    /// How both legs are fused.
    pub fusion: Fusion,
    /// Candidates that the HNSW index looks at before it is asked for more.
    pub ef_search: u32,
    /// Scopes of up to this many nodes are searched exactly; so are larger ones of which the filters by tag, robot, session
    /// and metadata leave no more.
    pub exact_scope: usize,
    /// BM25's saturation of a word that comes often.
    pub bm25_k1: f64,
    /// BM25's normalisation by length, 0 to 1.
    pub bm25_b: f64,
    /// What BM25 adds to each length and to the average, in lexemes: a turn of three words is hardly more about them
    /// than one of ten.
    pub bm25_smoothing: f64,
    /// Hybrid: the share of a neighbouring turn's score that a turn of a conversation has besides its own; 0: none.
    pub weight_neighbours: f64,
    /// Hybrid: what a node has more when the query names its speaker.
    pub weight_speaker: f64,
    /// Hybrid: what a node has more when the query names the month that it is of.
    pub weight_time: f64,
    /// What relevance is made of.
    pub relevance: RelevanceWeights,
    /// What a refined recall does beside its search.
    pub refine: RefineSettings,
}

impl Default for RecallSettings {
    fn default() -> Self {
        Self {
            pool: 100,
            weight_vector: 0.5,
            fusion: Fusion::Convex,
            ef_search: 200,
            exact_scope: 10_000,
            bm25_k1: 1.2,
            bm25_b: 0.75,
            bm25_smoothing: 30.0,
            weight_neighbours: 0.15,
            weight_speaker: 0.15,
            weight_time: 0.3,
            relevance: RelevanceWeights::default(),
            refine: RefineSettings::default(),
        }
    }
}

/// What a recall found, and what it could not see.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Recalled {
    /// The hits, best first.
    pub hits: Vec<Hit>,
    /// The tags of the hits, those of most hits first.
    pub facets: Vec<Facet>,
    /// The strategy that was asked for.
    pub strategy: Strategy,
    /// When the hits were made: what the query's filter meant.
    pub timeframe: Timeframe,
    /// The phrase that was taken from the query's text; none unless that was asked for, and one was found.
    pub time_phrase: Option<TimePhrase>,
    /// Nodes in namespace and timeframe whose embedding is pending: vectors cannot find them, or by a former text only;
    /// text can. Counted up to 10,001; 0 for full text, which needs no embedding.
    pub unembedded: i64,
    /// The label of the model whose vectors were searched; none when no vectors were.
    pub model: Option<String>,
    /// How the vectors were searched; none when no vectors were, or nothing was found.
    pub vector_search: Option<VectorSearch>,
    /// The legs that did not run although the strategy has them, and why.
    pub degraded: Vec<Degraded>,
    /// Milliseconds that the query's embedding took (0 when it was cached or not needed).
    pub embed_ms: f64,
    /// Milliseconds that the database took, with both ways.
    pub search_ms: f64,
    /// What was searched for beside the query: other phrasings of it.
    pub expansions: Vec<String>,
    /// Milliseconds that it took to be given them.
    pub expand_ms: f64,
    /// Milliseconds that the re-ranker took.
    pub rerank_ms: f64,
}

/// How vectors are searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum VectorSearch {
    /// Every vector in scope was compared: the scope, or what the filters leave of it, is small
    /// ([`RecallSettings::exact_scope`]).
    Exact,
    /// By the HNSW index, which was asked on until enough of what it gave passed the filters: nearly the nearest.
    Approximate,
}

impl fmt::Display for VectorSearch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            VectorSearch::Exact => "exact",
            VectorSearch::Approximate => "approximate",
        })
    }
}

/// A tag of hits.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Facet {
    /// The tag.
    pub tag: TagPath,
    /// How many of the hits have it.
    pub hits: usize,
}

/// A leg that did not run.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Degraded {
    /// `vector`, `rerank`, `expansion`.
    pub leg: &'static str,
    /// The stable code of the reason.
    pub code: &'static str,
    /// The reason, for people.
    pub reason: String,
}

/// A node that was found.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Hit {
    /// The node.
    #[serde(flatten)]
    pub node: Node,
    /// Why it stands where it stands.
    pub scores: Scores,
    /// How often it was among the hits before; written behind the recalls, so the last seconds may be missing.
    pub access_count: u64,
    /// When it was last.
    pub last_accessed: Option<DateTime<Utc>>,
    /// What brought it.
    pub matched_by: MatchedBy,
    /// Its near-duplicates among the candidates, the best first, when they were to be folded.
    pub folded: Vec<NodeId>,
}

/// The scores of a hit; larger is better, ranks count from 1. Of a query that is a time and no more there are none.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Scores {
    /// What the hits are ordered by: the similarity, BM25, or the fusion of both (0 to 1) with what neighbours, a speaker
    /// and a month that the query names add to it (with default weights 0.7 at most). Of several phrasings the fusion of
    /// their ranks, 0 to 1.
    pub score: f64,
    /// Cosine similarity, -1 to 1; none while the node's embedding is pending.
    pub similarity: Option<f64>,
    /// The similarity is that of a former text: the node was edited, and its new embedding is pending.
    pub stale: bool,
    /// BM25, from 0, with what words add that stand together as in the query.
    pub text: Option<f64>,
    /// Its place among the vector leg's candidates.
    pub vector_rank: Option<i64>,
    /// Its place among the text leg's candidates.
    pub text_rank: Option<i64>,
    /// The share of the tags to be boosted that it has, 0 to 1; none when there were none.
    pub tags: Option<f64>,
    /// What the hits are ordered by when tags are boosted or relevance is asked for, 0 to 10; else none.
    pub relevance: Option<f64>,
    /// What the re-ranker says, on its own scale; the hits that have it are ordered by it.
    pub reranked: Option<f64>,
}

/// What brought a hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MatchedBy {
    /// Its embedding is near the query's.
    Vector,
    /// It has words of the query.
    Text,
    /// Both.
    Both,
    /// The query was a time and no more; this is of it.
    Time,
    /// It was said beside what one of both found.
    Neighbour,
}

impl fmt::Display for MatchedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            MatchedBy::Vector => "vector",
            MatchedBy::Text => "text",
            MatchedBy::Both => "both",
            MatchedBy::Time => "time",
            MatchedBy::Neighbour => "neighbour",
        })
    }
}

impl Htm {
    /// Finds memories.
    ///
    /// When the query cannot be embedded, full text answers and [`Recalled::degraded`] says so.
    ///
    /// # Errors
    /// `content_empty` (a blank query), `limit_out_of_range`, `namespace_invalid`, `robot_invalid`, what
    /// [`TimeExpression::resolve`](crate::TimeExpression::resolve) says, `embedder_missing` (strategy `vector` without
    /// any embedder), `reranker_missing`, `expander_missing`, `diversity_out_of_range`, or a database error.
    pub async fn recall(&self, query: &RecallQuery) -> Result<Recalled> {
        query.validate()?;
        match query.is_refined() {
            true => self.recall_refined(query).await,
            false => self.search(query).await,
        }
    }

    /// The search of a valid query, without what refines it.
    pub(crate) async fn search(&self, query: &RecallQuery) -> Result<Recalled> {
        let weights =
            query.rerank.or((!query.boost_tags.is_empty()).then_some(self.settings().recall.relevance));
        weights.map_or(Ok(()), |weights| weights.validate())?;
        let namespace = self.namespace_or_own(query.namespace.as_deref())?;
        self.saw_robot(namespace, &self.settings().robot);
        let applied = self.apply_time(&query.timeframe, &query.text).await?;
        if applied.is_only_time() {
            return self.recall_time(query, applied).await;
        }
        let Applied { timeframe, phrase } = applied;
        let words = phrase.as_ref().map_or(query.text.as_str(), |taken| &taken.query);
        let started = Instant::now();
        let mut degraded = Vec::new();
        let embedding = match query.strategy.wants_vectors() {
            false => None,
            true => match self.embed_query(words).await {
                Ok(embedding) => Some(embedding),
                Err(error @ Error::EmbedderMissing) if query.strategy == Strategy::Vector => {
                    return Err(error);
                }
                // A database that fails here fails the text's leg as well.
                Err(error @ (Error::Database(_) | Error::DatabaseUnreachable(_))) => return Err(error),
                Err(error) => {
                    tracing::info!(code = error.code(), %error, "recall without vectors");
                    let reason = format!("{error}; {}", error.hint());
                    degraded.push(Degraded { leg: "vector", code: error.code(), reason });
                    None
                }
            },
        };
        let text = (query.strategy != Strategy::Vector || embedding.is_none()).then_some(words);
        let embed_ms = started.elapsed().as_secs_f64() * 1_000.0;
        let started = Instant::now();
        let found = recall::search(
            self.pool(),
            &recall::Search {
                namespace,
                query,
                timeframe: &timeframe,
                text,
                embedding: embedding.as_ref().map(|(model, vector)| (model, vector.to_vec())),
                settings: &self.settings().recall,
                relevance: weights.as_ref(),
                language: &self.settings().language,
            },
        )
        .await?;
        let hits = found.hits;
        if query.count_accesses {
            self.count_accesses(hits.iter().map(|hit| hit.node.id));
        }
        Ok(Recalled {
            facets: facets(&hits),
            hits,
            strategy: query.strategy,
            timeframe,
            time_phrase: phrase,
            unembedded: found.unembedded,
            vector_search: found.vector_search,
            model: embedding.map(|(model, _)| model.label),
            degraded,
            embed_ms,
            search_ms: started.elapsed().as_secs_f64() * 1_000.0,
            expansions: Vec::new(),
            expand_ms: 0.0,
            rerank_ms: 0.0,
        })
    }
}

impl Htm {
    /// What a query that is a time and no more asks for: the latest of that time.
    async fn recall_time(&self, query: &RecallQuery, applied: Applied) -> Result<Recalled> {
        let started = Instant::now();
        let nodes = self.latest(&TimelineQuery::of(query), &applied.timeframe).await?;
        let hits = nodes.into_iter().map(|node| Hit {
            node,
            scores: Scores::default(),
            access_count: 0,
            last_accessed: None,
            matched_by: MatchedBy::Time,
            folded: Vec::new(),
        });
        let hits: Vec<Hit> = hits.collect();
        if query.count_accesses {
            self.count_accesses(hits.iter().map(|hit| hit.node.id));
        }
        Ok(Recalled {
            facets: facets(&hits),
            hits,
            strategy: query.strategy,
            timeframe: applied.timeframe,
            time_phrase: applied.phrase,
            unembedded: 0,
            model: None,
            vector_search: None,
            degraded: Vec::new(),
            embed_ms: 0.0,
            search_ms: started.elapsed().as_secs_f64() * 1_000.0,
            expansions: Vec::new(),
            expand_ms: 0.0,
            rerank_ms: 0.0,
        })
    }
}

/// The tags of hits, those of most hits first.
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
