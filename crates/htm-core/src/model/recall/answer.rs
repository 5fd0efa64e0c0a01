//! What a recall found.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;

use chrono::{DateTime, Utc};

use super::{Explanation, Snippet, Strategy};
use crate::model::id::NodeId;
use crate::model::nodes::Node;
use crate::model::tags::TagPath;
use crate::model::timeframe::{TimePhrase, Timeframe};

/// What a recall found, and what it could not see.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Recalled {
    /// The hits, best first.
    pub hits: Vec<Hit>,
    /// The tags of the hits, those of most hits first.
    pub facets: Vec<Facet>,
    /// The strategy that was asked for.
    pub strategy: Strategy,
    /// What [`Strategy::Auto`] chose; none when another was asked for.
    pub chosen: Option<Chosen>,
    /// Words of the query that no node has, and those that were looked for in their place.
    pub corrected: Vec<Correction>,
    /// No memory has the phrases that hits had to have: their words were looked for instead.
    pub relaxed: bool,
    /// When the hits were made: what the query's filter meant.
    pub timeframe: Timeframe,
    /// The phrase that was taken from the query's text; none unless that was asked for, and one was found.
    pub time_phrase: Option<TimePhrase>,
    /// Nodes in namespace and timeframe whose embedding is pending: vectors do not find them, or only by a former text; full
    /// text does. At most 1,001 are counted. 0 for full text, which needs no embedding.
    pub unembedded: i64,
    /// The labels of the models whose vectors were searched; none when no vectors were.
    pub models: Vec<String>,
    /// The active model, when one on standby answered because no embedder of the active one can be had here.
    pub instead_of: Option<String>,
    /// How the vectors were searched; none when no vectors were, or nothing was found.
    pub vector_search: Option<VectorSearch>,
    /// The legs that did not run although the strategy has them, and why.
    pub degraded: Vec<Degraded>,
    /// Milliseconds that the query's embedding took (0 when it was cached or not needed).
    pub embed_ms: f64,
    /// Milliseconds that the database took, with both ways.
    pub search_ms: f64,
    /// What was searched.
    pub legs: Vec<Leg>,
    /// What was searched for beside the query: other phrasings of it.
    pub expansions: Vec<String>,
    /// Milliseconds that it took to be given them.
    pub expand_ms: f64,
    /// Milliseconds that the re-ranker took.
    pub rerank_ms: f64,
}

/// A strategy that was chosen by what the query looks like.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Chosen {
    /// The strategy.
    pub strategy: Strategy,
    /// Why, for people.
    pub reason: &'static str,
}

/// A word of the query that was taken for another.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Correction {
    /// As it was asked for.
    pub asked: String,
    /// What was looked for: the word with two letters swapped, or the stem that is most like it.
    pub used: String,
}

/// How vectors are searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum VectorSearch {
    /// Every vector in scope was compared: the scope, or what the filters leave of it, is small
    /// ([`RecallSettings::exact_scope`](crate::RecallSettings::exact_scope)).
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

/// A part of a search that brings candidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Leg {
    /// All vectors in scope, compared each.
    Exact,
    /// The vectors of what passes the filters, compared each.
    Narrow,
    /// The HNSW index of the vectors.
    Hnsw,
    /// The words.
    Text,
}

impl fmt::Display for Leg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Leg::Exact => "exact",
            Leg::Narrow => "narrow",
            Leg::Hnsw => "hnsw",
            Leg::Text => "text",
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
    /// Its best passage; only when asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snippet: Option<Snippet>,
    /// What its score is made of; only when asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Explanation>,
    /// Its near-duplicates among the candidates, the best first, when they were to be folded.
    pub folded: Vec<NodeId>,
}

/// The scores of a hit; larger is better, ranks count from 1. Of a query that is a time and no more there are none.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Scores {
    /// What the hits are ordered by: the similarity, BM25, or the fusion of both (about 0 to 1) with what neighbours add to
    /// it or take from it, and what a speaker and a month that the query names add (with default weights 1 at most). Of
    /// several phrasings or models the fusion of their ranks, 0 to 1.
    pub score: f64,
    /// Cosine similarity, -1 to 1; none while the node's embedding is pending.
    pub similarity: Option<f64>,
    /// The similarity is that of a former text: the node was edited, and its new embedding is pending.
    pub stale: bool,
    /// BM25, from 0, with what words add that stand together as in the query, and what is there as written.
    pub text: Option<f64>,
    /// The share that [`text`](Scores::text) is of the most that any node could have for this query, 0 to 1: comparable
    /// between queries. 1 would be a node with nothing but the query's words, without end.
    pub text_share: Option<f64>,
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
    /// It has tags that were to be [boosted](crate::RecallQuery::boost_tags); neither its words nor its embedding brought it.
    Tag,
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
            MatchedBy::Tag => "tag",
            MatchedBy::Neighbour => "neighbour",
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
