//! Recall's statement: its template, filled in once a model, and its rows.

use chrono::{DateTime, Utc};
use pgvector::HalfVector;
use sqlx::{AssertSqlSafe, PgPool};

use super::embeddings::RegisteredModel;
use super::nodes::read_tag;
use crate::error::Result;
use crate::id::NodeId;
use crate::job::Stage;
use crate::node::Node;
use crate::recall::{Fusion, Hit, MatchedBy, RecallQuery, Scores, TagFilter};

/// Everything the statement is told, beside the query.
pub(crate) struct Search<'a> {
    pub(crate) namespace: &'a str,
    pub(crate) query: &'a RecallQuery,
    /// Null: no full text.
    pub(crate) text: Option<&'a str>,
    /// Null: no vectors.
    pub(crate) embedding: Option<(&'a RegisteredModel, Vec<f32>)>,
    pub(crate) settings: &'a crate::recall::RecallSettings,
    pub(crate) language: &'a str,
}

/// Hits, and how many nodes in scope the vectors cannot see yet.
pub(crate) struct Found {
    pub(crate) hits: Vec<Hit>,
    pub(crate) unembedded: i64,
}

pub(crate) async fn search(pool: &PgPool, search: &Search<'_>) -> Result<Found> {
    let query = search.query;
    let (paths, prefixes): (Vec<&str>, Vec<bool>) = query
        .tags
        .iter()
        .map(|tag| match tag {
            TagFilter::Exact(path) => (path.as_str(), false),
            TagFilter::Prefix(path) => (path.as_str(), true),
        })
        .unzip();
    let needed = if query.any_tag { 1 } else { paths.len() as i32 };
    let paths = (!paths.is_empty()).then_some(paths);
    let settings = search.settings;
    let pool_size = settings.pool.max(query.limit);
    let begin = format!(
        // Custom plans: at its sixth execution a generic plan would walk the HNSW index for a narrow filter.
        "begin read only; set local plan_cache_mode = force_custom_plan; set local jit = off;
         set local hnsw.iterative_scan = relaxed_order; set local hnsw.ef_search = {}",
        settings.ef_search.clamp(1, 1_000)
    );
    let sql = statement(search.embedding.as_ref().map(|(model, _)| *model));
    let mut tx = pool.begin_with(AssertSqlSafe(begin)).await?;
    let rows: Vec<Row> = sqlx::query_as(AssertSqlSafe(sql))
        .bind(search.namespace)
        .bind(query.timeframe.from())
        .bind(query.timeframe.until())
        .bind(paths)
        .bind(prefixes)
        .bind(needed)
        .bind(query.robot.as_deref())
        .bind(search.text)
        .bind(search.embedding.as_ref().map(|(_, vector)| HalfVector::from_f32_slice(vector)))
        .bind(search.language)
        .bind(pool_size as i32)
        .bind(query.limit as i32)
        .bind(settings.exact_scope as i32)
        .bind(match settings.fusion {
            Fusion::Convex => "convex",
            Fusion::Rrf => "rrf",
        })
        .bind(settings.weight_vector)
        .bind(settings.bm25_k1)
        .bind(settings.bm25_b)
        .fetch_all(&mut *tx)
        .await?;
    let unembedded = match query.strategy.wants_vectors() {
        false => 0,
        true => {
            let model = search.embedding.as_ref().map(|(model, _)| model);
            sqlx::query_scalar(include_str!("sql/unembedded.sql"))
                .bind(search.namespace)
                .bind(query.timeframe.from())
                .bind(query.timeframe.until())
                .bind(model.map_or(Stage::Embed.queue(), |model| &model.queue))
                .bind(model.map(|model| &model.label))
                .fetch_one(&mut *tx)
                .await?
        }
    };
    tx.commit().await?;
    let hits = rows.into_iter().map(Row::into_hit).collect::<Result<_>>()?;
    Ok(Found { hits, unembedded })
}

/// Without a model there is no store to read; an empty relation of its shape stands in.
const NO_STORE: &str = "(select 0::bigint as node_id, ''::text as namespace, now() as created_at, \
                        null::halfvec as embedding where false)";

fn statement(model: Option<&RegisteredModel>) -> String {
    include_str!("sql/recall.sql")
        .replace("{{store}}", &model.map_or_else(|| NO_STORE.into(), RegisteredModel::store))
        .replace("{{visible}}", include_str!("sql/visible.sql").trim_end())
}

#[derive(sqlx::FromRow)]
struct Row {
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
    vector_rank: Option<i64>,
    text_rank: Option<i64>,
    similarity: Option<f64>,
    bm25: Option<f64>,
    score: Option<f64>,
}

impl Row {
    fn into_hit(self) -> Result<Hit> {
        let matched_by = match (self.vector_rank, self.text_rank) {
            (Some(_), Some(_)) => MatchedBy::Both,
            (None, Some(_)) => MatchedBy::Text,
            _ => MatchedBy::Vector,
        };
        Ok(Hit {
            node: Node {
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
                revision: self.revision,
                created_at: self.created_at,
                updated_at: self.updated_at,
            },
            scores: Scores {
                score: self.score.unwrap_or(0.0),
                similarity: self.similarity,
                text: self.bm25,
                vector_rank: self.vector_rank,
                text_rank: self.text_rank,
            },
            matched_by,
        })
    }
}
