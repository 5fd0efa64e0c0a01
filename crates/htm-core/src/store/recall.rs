//! Recall's statement: its template, filled in once a model, and its rows.
//!
//! What each step of `recall.sql` gained, as recall of relevant nodes among the first ten hits and nDCG at ten, hybrid
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
//! | words together as in the query, .3 of the rarer one's weight | .786 .611 | .891 .716 |
//!
//! The neighbours' weight is .15 all the same. On the demo's 32 questions, whose conversations change their subject with
//! each turn, hybrid finds .974 of the first ten and .859 of the first five without neighbours, .974 .839 with .15, .943
//! .807 with .2, and .932 .776 with .3; the short turns have .760 .597 with .15.
//!
//! One pair of letters swapped in each query's rarest word costs .04 and .03 of recall (.13 and .08 without the steps for
//! words that no node has). The time is about half of what it was before all of this: the words' frequencies come from
//! `ts_rank` instead of an unpacked `tsvector`, and nodes are looked up by distance until enough are visible.
//!
//! Rank fusion in place of the sum has .829 .681 on the abstracts, and .593 .431 on a quarter of the questions, of which the
//! sum has .751 .599.
//!
//! What gained nothing on either, or lost on one what it gained on the other: other normalisations, weighting by the share
//! of the query's words, larger pools, feedback from the first hits, a vector a sentence.

use std::cmp::Ordering;

use chrono::{DateTime, Utc};
use pgvector::HalfVector;
use serde_json::{Map, Value};
use sqlx::types::Json;
use sqlx::{AssertSqlSafe, PgPool};

use super::embeddings::RegisteredModel;
use super::nodes::read_tag;
use crate::error::Result;
use crate::id::NodeId;
use crate::job::Stage;
use crate::node::Node;
use crate::recall::{Fusion, Hit, MatchedBy, RecallQuery, Scores, Strategy, TagFilter, VectorSearch};
use crate::relevance::{RelevanceWeights, Signals};
use crate::timeframe::{NamedMonth, Timeframe, named_months};

/// Everything the statement is told, beside the query.
pub(crate) struct Search<'a> {
    pub(crate) namespace: &'a str,
    pub(crate) query: &'a RecallQuery,
    /// What the query's filter means.
    pub(crate) timeframe: &'a Timeframe,
    /// Null: no full text.
    pub(crate) text: Option<&'a str>,
    /// Null: no vectors.
    pub(crate) embedding: Option<(&'a RegisteredModel, Vec<f32>)>,
    pub(crate) settings: &'a crate::recall::RecallSettings,
    /// What candidates are ordered anew by.
    pub(crate) relevance: Option<&'a RelevanceWeights>,
    pub(crate) language: &'a str,
}

/// Hits, and how many nodes in scope the vectors cannot see yet.
pub(crate) struct Found {
    pub(crate) hits: Vec<Hit>,
    pub(crate) unembedded: i64,
    pub(crate) vector_search: Option<VectorSearch>,
}

pub(crate) async fn search(pool: &PgPool, search: &Search<'_>) -> Result<Found> {
    let query = search.query;
    let (paths, prefixes) = paths_and_prefixes(&query.tags);
    let needed = needed(&query.tags, query.any_tag);
    let (boosts, boost_prefixes) = paths_and_prefixes(&query.boost_tags);
    let (starts, ends) = several(search.timeframe);
    let (years, months): (Vec<Option<i32>>, Vec<i32>) =
        search.text.map(named_months).unwrap_or_default().into_iter().map(NamedMonth::numbers).unzip();
    let settings = search.settings;
    // Also when the vectors of a hybrid query are missing.
    let weight_neighbours = match query.strategy {
        Strategy::Hybrid => settings.weight_neighbours,
        Strategy::Vector | Strategy::Fulltext => 0.0,
    };
    let pool_size = settings.pool.max(query.limit);
    // What is ordered anew is chosen from all candidates.
    let limit = if search.relevance.is_some() { pool_size } else { query.limit };
    let begin = format!(
        // Custom plans: at its sixth execution a generic plan would walk the HNSW index for a narrow filter.
        "begin read only; set local plan_cache_mode = force_custom_plan; set local jit = off;
         set local pg_trgm.similarity_threshold = 0.3; set local hnsw.iterative_scan = relaxed_order;
         set local hnsw.max_scan_tuples = 200000;
         set local hnsw.ef_search = {}",
        settings.ef_search.clamp(1, 1_000)
    );
    let sql = statement(search.embedding.as_ref().map(|(model, _)| *model));
    let mut tx = pool.begin_with(AssertSqlSafe(begin)).await?;
    let rows: Vec<Row> = sqlx::query_as(AssertSqlSafe(sql))
        .bind(search.namespace)
        .bind(search.timeframe.from())
        .bind(search.timeframe.until())
        .bind(paths)
        .bind(prefixes)
        .bind(needed)
        .bind(query.robot.as_deref())
        .bind(search.text)
        .bind(search.embedding.as_ref().map(|(_, vector)| HalfVector::from_f32_slice(vector)))
        .bind(search.language)
        .bind(pool_size as i32)
        .bind(limit as i32)
        .bind(settings.exact_scope as i32)
        .bind(match settings.fusion {
            Fusion::Convex => "convex",
            Fusion::Rrf => "rrf",
        })
        .bind(settings.weight_vector)
        .bind(settings.bm25_k1)
        .bind(settings.bm25_b)
        .bind(starts.as_deref())
        .bind(ends.as_deref())
        .bind(query.session.as_deref())
        .bind(boosts)
        .bind(boost_prefixes)
        .bind(weight_neighbours)
        .bind(settings.bm25_smoothing)
        .bind(settings.weight_speaker)
        .bind(settings.weight_time)
        .bind(years)
        .bind(months)
        .bind(wanted_metadata(&query.metadata))
        .fetch_all(&mut *tx)
        .await?;
    let unembedded = match query.strategy.wants_vectors() {
        false => 0,
        true => {
            let model = search.embedding.as_ref().map(|(model, _)| model);
            sqlx::query_scalar(include_str!("sql/unembedded.sql"))
                .bind(search.namespace)
                .bind(search.timeframe.from())
                .bind(search.timeframe.until())
                .bind(model.map_or(Stage::Embed.queue(), |model| &model.queue))
                .bind(model.map(|model| &model.label))
                .bind(starts.as_deref())
                .bind(ends.as_deref())
                .fetch_one(&mut *tx)
                .await?
        }
    };
    tx.commit().await?;
    let vector_search = rows.first().and_then(|row| match row.search.as_deref()? {
        "index" => Some(VectorSearch::Approximate),
        _ => Some(VectorSearch::Exact),
    });
    let best_text = rows.iter().filter_map(|row| row.bm25).fold(0.0, f64::max);
    let mut hits =
        rows.into_iter().map(|row| row.into_hit(search.relevance, best_text)).collect::<Result<Vec<_>>>()?;
    if search.relevance.is_some() {
        // Stable: of equal relevance, the better score comes first.
        hits.sort_by(|a, b| b.scores.relevance.partial_cmp(&a.scores.relevance).unwrap_or(Ordering::Equal));
        hits.truncate(query.limit);
    }
    Ok(Found { hits, unembedded, vector_search })
}

/// The names of tags and which are prefixes; no names when there are no tags.
pub(crate) fn paths_and_prefixes(tags: &[TagFilter]) -> (Option<Vec<&str>>, Vec<bool>) {
    let (paths, prefixes): (Vec<&str>, Vec<bool>) = tags
        .iter()
        .map(|tag| match tag {
            TagFilter::Exact(path) => (path.as_str(), false),
            TagFilter::Prefix(path) => (path.as_str(), true),
        })
        .unzip();
    ((!paths.is_empty()).then_some(paths), prefixes)
}

/// How many of the tags a node must have.
pub(crate) fn needed(tags: &[TagFilter], any: bool) -> i32 {
    if any { 1 } else { tags.len() as i32 }
}

/// The tags that a list of names means, to be put into a statement.
pub(crate) fn tags_named(paths: &str, prefixes: &str) -> String {
    include_str!("sql/tags_named.sql").replace("{{paths}}", paths).replace("{{prefixes}}", prefixes)
}

/// What metadata must contain; none when nothing is asked for.
pub(crate) fn wanted_metadata(metadata: &Map<String, Value>) -> Option<Json<&Map<String, Value>>> {
    (!metadata.is_empty()).then_some(Json(metadata))
}

/// The starts and the ends of a timeframe's ranges, when it has more than the one that its own start and end tell.
pub(crate) fn several(timeframe: &Timeframe) -> (Option<Times>, Option<Times>) {
    match timeframe.ranges() {
        [] | [_] => (None, None),
        ranges => (
            Some(ranges.iter().map(|range| range.from()).collect()),
            Some(ranges.iter().map(|range| range.until()).collect()),
        ),
    }
}

/// Null is an open side.
type Times = Vec<Option<DateTime<Utc>>>;

/// Without a model there is no store to read; an empty relation of its shape stands in.
const NO_STORE: &str = "(select 0::bigint as node_id, ''::text as namespace, now() as created_at, \
                        0 as revision, null::halfvec as embedding where false)";

fn statement(model: Option<&RegisteredModel>) -> String {
    include_str!("sql/recall.sql")
        .replace("{{words}}", include_str!("sql/recall_words.sql").trim_end())
        .replace("{{bm25}}", include_str!("sql/recall_bm25.sql").trim_end())
        .replace("{{store}}", &model.map_or_else(|| NO_STORE.into(), RegisteredModel::store))
        .replace("{{tags:$4,$5}}", &tags_named("$4", "$5"))
        .replace("{{tags:$21,$22}}", &tags_named("$21", "$22"))
        .replace("{{within:m}}", &within("m"))
        .replace("{{within:e}}", &within("e"))
        .replace("{{visible}}", include_str!("sql/visible.sql").trim_end())
        .replace("{{node}}", node_columns())
}

fn within(row: &str) -> String {
    include_str!("sql/within.sql").replace("{{row}}", row).trim_end().into()
}

/// What a [`NodeRow`] is read from.
pub(crate) fn node_columns() -> &'static str {
    include_str!("sql/node.sql").trim_end()
}

#[derive(sqlx::FromRow)]
struct Row {
    #[sqlx(flatten)]
    node: NodeRow,
    vector_rank: Option<i64>,
    text_rank: Option<i64>,
    similarity: Option<f64>,
    stale: bool,
    bm25: Option<f64>,
    score: Option<f64>,
    tag_share: Option<f64>,
    search: Option<String>,
    access_count: Option<i64>,
    last_accessed: Option<DateTime<Utc>>,
    hours: f64,
}

impl Row {
    fn into_hit(self, relevance: Option<&RelevanceWeights>, best_text: f64) -> Result<Hit> {
        let access_count = self.access_count.unwrap_or(0).max(0) as u64;
        let signals = Signals {
            similarity: self.similarity,
            tags: self.tag_share,
            hours: Some(self.hours),
            accesses: Some(access_count),
            importance: Some(self.node.importance.into()),
            text: self.bm25.map(|bm25| if best_text > 0.0 { bm25 / best_text } else { 0.0 }),
        };
        let matched_by = match (self.vector_rank, self.text_rank) {
            (Some(_), Some(_)) => MatchedBy::Both,
            (None, Some(_)) => MatchedBy::Text,
            (Some(_), None) => MatchedBy::Vector,
            (None, None) => MatchedBy::Neighbour,
        };
        Ok(Hit {
            node: self.node.into_node()?,
            scores: Scores {
                score: self.score.unwrap_or(0.0),
                similarity: self.similarity,
                stale: self.stale,
                text: self.bm25,
                vector_rank: self.vector_rank,
                text_rank: self.text_rank,
                tags: self.tag_share,
                relevance: relevance.map(|weights| weights.relevance(&signals)),
                reranked: None,
            },
            access_count,
            last_accessed: self.last_accessed,
            matched_by,
            folded: Vec::new(),
        })
    }
}

/// A node as statements of our own select it.
#[derive(sqlx::FromRow)]
pub(crate) struct NodeRow {
    id: NodeId,
    namespace: String,
    robot: String,
    key: Option<String>,
    content: String,
    speaker: Option<String>,
    session: Option<String>,
    seq: Option<i32>,
    source: Option<String>,
    kind: Option<String>,
    importance: f32,
    token_count: i32,
    token_encoding: String,
    metadata: serde_json::Value,
    revision: i32,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
    tags: Vec<String>,
    remember_count: i64,
    first_remembered: Option<DateTime<Utc>>,
    last_remembered: Option<DateTime<Utc>>,
}

impl NodeRow {
    pub(crate) fn into_node(self) -> Result<Node> {
        Ok(Node {
            id: self.id,
            namespace: self.namespace,
            robot: self.robot,
            key: self.key,
            content: self.content,
            speaker: self.speaker,
            session: self.session,
            seq: self.seq,
            source: self.source,
            kind: self.kind,
            importance: self.importance,
            token_count: self.token_count,
            token_encoding: self.token_encoding,
            tags: self.tags.into_iter().map(read_tag).collect::<Result<_>>()?,
            metadata: self.metadata,
            remember_count: self.remember_count,
            first_remembered: self.first_remembered,
            last_remembered: self.last_remembered,
            revision: self.revision,
            created_at: self.created_at,
            updated_at: self.updated_at,
        })
    }
}
