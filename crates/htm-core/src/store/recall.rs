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
//! words that no node has). The time is about half of what it was before all of this: the words' frequencies come from
//! `ts_rank` instead of an unpacked `tsvector`, and nodes are looked up by distance until enough are visible.
//!
//! Rank fusion in place of the sum has .829 .681 on the abstracts, and .593 .431 on a quarter of the questions, of which the
//! sum has .751 .599.
//!
//! What gained nothing on either, or lost on one what it gained on the other: other normalisations, weighting by the share
//! of the query's words, larger pools, feedback from the first hits, a vector a sentence; neighbours weighted by their
//! similarity to the turn; a score a class of length. Full text alone on abstracts has .807 .675, a textbook's BM25 with
//! the same words .807 .641 (.820 .648 with k1 1.5): k1 from .9 to 2, b from .5 to 1, lengths in words, parts of compounds that
//! count once, and a smaller weight for corrected words move ours by one to three questions of 150, up and down.

mod filters;
mod node_row;

use std::cmp::Ordering;

use chrono::{DateTime, Utc};
pub(crate) use filters::{needed, paths_and_prefixes, several, tags_named, wanted_metadata};
pub(crate) use node_row::{NodeRow, node_columns};
use pgvector::HalfVector;
use sqlx::types::Json;
use sqlx::{AssertSqlSafe, Execute, PgPool};

use super::embeddings::RegisteredModel;
use crate::model::error::Result;
use crate::model::jobs::Stage;
use crate::model::recall::{
    Correction, Explanation, Fusion, Hit, MatchedBy, Plan, RecallQuery, Scores, Snippet, Strategy,
    VectorSearch,
};
use crate::model::relevance::{RelevanceWeights, Signals};
use crate::model::timeframe::{NamedMonth, Timeframe, named_months};
use crate::model::words::{SignKind, Words};

/// Everything the statement is told, beside the query.
pub(crate) struct Search<'a> {
    /// Each once.
    pub(crate) namespaces: &'a [&'a str],
    pub(crate) query: &'a RecallQuery,
    /// What the query's filter means.
    pub(crate) timeframe: &'a Timeframe,
    /// The query's, or the one that was chosen for it.
    pub(crate) strategy: Strategy,
    /// What the query's text asks for.
    pub(crate) words: &'a Words,
    /// Whether full text runs.
    pub(crate) by_text: bool,
    /// Null: no vectors.
    pub(crate) embedding: Option<(&'a RegisteredModel, Vec<f32>)>,
    pub(crate) settings: &'a crate::model::recall::RecallSettings,
    /// What candidates are ordered anew by.
    pub(crate) relevance: Option<&'a RelevanceWeights>,
    pub(crate) language: &'a str,
}

/// Hits, and how many nodes in scope the vectors cannot see yet.
pub(crate) struct Found {
    pub(crate) hits: Vec<Hit>,
    pub(crate) corrected: Vec<Correction>,
    pub(crate) plan: Option<Plan>,
    pub(crate) unembedded: i64,
    pub(crate) vector_search: Option<VectorSearch>,
}

pub(crate) async fn search(pool: &PgPool, search: &Search<'_>) -> Result<Found> {
    let query = search.query;
    let (paths, prefixes) = paths_and_prefixes(&query.tags);
    let needed = needed(&query.tags, query.any_tag);
    let (boosts, boost_prefixes) = paths_and_prefixes(&query.boost_tags);
    let (starts, ends) = several(search.timeframe);
    let text = search.by_text.then(|| search.words.searched());
    let (years, months): (Vec<Option<i32>>, Vec<i32>) =
        text.as_deref().map(named_months).unwrap_or_default().into_iter().map(NamedMonth::numbers).unzip();
    let settings = search.settings;
    // Also when the vectors of a hybrid query are missing.
    let weight_neighbours = match search.strategy {
        Strategy::Hybrid | Strategy::Auto => settings.weight_neighbours,
        Strategy::Vector | Strategy::Fulltext => 0.0,
    };
    let pool_size = settings.pool.max(query.limit);
    // What is ordered anew is chosen from the candidates of all legs.
    let limit = if search.relevance.is_some() { 3 * pool_size } else { query.limit };
    let begin = format!(
        // What has no filter runs by a plan that is made once: to plan it takes as long as to run it. What filter is narrow
        // is for the planner to see each time. Without sorting, only the HNSW index is in order of distance; whole tables
        // are never read; no parallel workers: to start them takes longer than what they would do.
        "begin read only; set local plan_cache_mode = {}; set local jit = off;
         set local enable_seqscan = off; set local enable_sort = off; set local max_parallel_workers_per_gather = 0;
         set local pg_trgm.similarity_threshold = 0.3; set local hnsw.iterative_scan = relaxed_order;
         set local hnsw.max_scan_tuples = 200000;
         set local hnsw.ef_search = {}",
        if has_filter(query) { "force_custom_plan" } else { "force_generic_plan" },
        settings.ef_search.clamp(1, 1_000)
    );
    let sql = statement(search, weight_neighbours > 0.0);
    let mut tx = pool.begin_with(AssertSqlSafe(begin)).await?;
    let mut asked = sqlx::query(AssertSqlSafe(""))
        .bind(search.namespaces)
        .bind(search.timeframe.from())
        .bind(search.timeframe.until())
        .bind(paths)
        .bind(prefixes)
        .bind(needed)
        .bind((!query.robots.is_empty()).then_some(&query.robots[..]))
        .bind(text.as_deref())
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
        .bind(Json(&search.words.signs))
        .bind(settings.weight_exact)
        .bind(query.min_similarity.or(settings.min_similarity))
        .bind(query.snippets);
    let arguments = asked.take_arguments().map_err(sqlx::Error::Encode)?.unwrap_or_default();
    let plan = match query.explain {
        false => None,
        true => {
            let sql = format!("explain (analyze, timing off, format json) {sql}");
            let explained: serde_json::Value =
                sqlx::query_scalar_with(AssertSqlSafe(sql), arguments.clone()).fetch_one(&mut *tx).await?;
            Some(Plan::read(&explained))
        }
    };
    let rows: Vec<Row> = sqlx::query_as_with(AssertSqlSafe(sql), arguments).fetch_all(&mut *tx).await?;
    let unembedded = match search.strategy.wants_vectors() {
        false => 0,
        true => {
            let model = search.embedding.as_ref().map(|(model, _)| model);
            sqlx::query_scalar(include_str!("sql/unembedded.sql"))
                .bind(search.namespaces)
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
    let corrected = rows.first().and_then(|row| row.corrected.clone()).map_or_else(Vec::new, |json| json.0);
    let best_text = rows.iter().filter_map(|row| row.bm25).fold(0.0, f64::max);
    let mut hits = rows
        .into_iter()
        .map(|row| row.into_hit(search.relevance, best_text, query.explain))
        .collect::<Result<Vec<_>>>()?;
    if search.relevance.is_some() {
        // Stable: of equal relevance, the better score comes first.
        hits.sort_by(|a, b| b.scores.relevance.partial_cmp(&a.scores.relevance).unwrap_or(Ordering::Equal));
        hits.truncate(query.limit);
    }
    Ok(Found { hits, corrected, plan, unembedded, vector_search })
}

/// Without a model there is no store to read; an empty relation of its shape stands in.
const NO_STORE: &str = "(select 0::bigint as node_id, ''::text as namespace, now() as created_at, \
                        0 as revision, null::halfvec as embedding where false)";

/// The statement, without what this query has no use for: each table that is mentioned costs the planner its time.
fn statement(search: &Search<'_>, has_neighbours: bool) -> String {
    let (query, words) = (search.query, search.words);
    let model = search.embedding.as_ref().map(|(model, _)| *model);
    let mut visible = match has_filter(query) {
        true => include_str!("sql/visible.sql").trim_end().to_owned(),
        false => "m.deleted_at is null".into(),
    };
    if words.filters() {
        visible.push('\n');
        visible.push_str(include_str!("sql/recall_required.sql").trim_end());
    }
    // What has a phrase is chosen by it, else any word chooses: among what a filter leaves, as the planner thinks best.
    let chosen = match (words.has(SignKind::Phrase), has_filter(query)) {
        (true, _) => "join phrased p on true join htm.nodes m on m.id = p.id",
        (false, true) => "join htm.nodes m on m.tsv @@ q.query",
        (false, false) => include_str!("sql/recall_chosen.sql").trim_end(),
    };
    let mut sql = include_str!("sql/recall.sql")
        .replace("{{signs}}", include_str!("sql/recall_signs.sql").trim_end())
        .replace("{{chosen}}", chosen)
        .replace("{{words}}", include_str!("sql/recall_words.sql").trim_end())
        .replace("{{bm25}}", include_str!("sql/recall_bm25.sql").trim_end())
        .replace("{{store}}", &model.map_or_else(|| NO_STORE.into(), RegisteredModel::store))
        .replace("{{tags:$4,$5}}", &tags_named("$1", "$4", "$5"))
        .replace("{{tags:$21,$22}}", &tags_named("$1", "$21", "$22"))
        .replace("{{within:m}}", &within("m"))
        .replace("{{within:e}}", &within("e"))
        .replace("{{within:n}}", &within("n"))
        .replace("{{within:near}}", &within("near"))
        .replace("{{visible}}", &visible)
        .replace("{{node}}", node_columns());
    let has_tags = !query.tags.is_empty();
    let has_filter = has_filter(query);
    for (is_used, part, columns) in [
        (has_tags, "tag_scope", "null::bigint as ord, null::bigint as id"),
        (!query.boost_tags.is_empty(), "boost", "null::bigint as ord, null::bigint as id"),
        (!query.boost_tags.is_empty(), "boosted", "null::bigint as id"),
        (!query.boost_tags.is_empty(), "tag_leg", "null::bigint as id"),
        (has_tags && model.is_some(), "few", "null::bigint as node_id, null::bigint as ord"),
        (has_filter && model.is_some(), "narrow", "null::bigint as id"),
        (has_filter && model.is_some(), "narrow_leg", "null::bigint as id, null::float8 as distance"),
        (model.is_some(), "whole_leg", "null::bigint as id, null::float8 as distance"),
        (model.is_some(), "index_leg", "null::bigint as id, null::float8 as distance"),
        (
            has_neighbours,
            "turn",
            "null::bigint as id, null::text as namespace, null::text as session, null::int as seq, \
             null::timestamptz as created_at",
        ),
        (has_neighbours, "link", "null::bigint as turn, null::bigint as id, null::bigint as steps"),
    ] {
        if !is_used {
            sql = emptied(&sql, part, columns);
        }
    }
    sql
}

/// Whether a node has to be looked at before it is known to be in scope.
fn has_filter(query: &RecallQuery) -> bool {
    let RecallQuery { tags, robots, session, metadata, .. } = query;
    !tags.is_empty() || !robots.is_empty() || session.is_some() || !metadata.is_empty()
}

/// The statement with a part that has no rows.
fn emptied(sql: &str, part: &str, columns: &str) -> String {
    let head = format!("\n{part} as materialized (");
    let cut = sql.find(&head).map(|start| start + head.len());
    match cut.and_then(|start| Some((start, start + sql[start..].find("\n)")?))) {
        Some((start, end)) => format!("{}\n    select {columns} where false{}", &sql[..start], &sql[end..]),
        None => sql.to_owned(),
    }
}

fn within(row: &str) -> String {
    include_str!("sql/within.sql").replace("{{row}}", row).trim_end().into()
}

#[derive(sqlx::FromRow)]
struct Row {
    #[sqlx(flatten)]
    node: NodeRow,
    vector_rank: Option<i64>,
    text_rank: Option<i64>,
    by_tag: bool,
    similarity: Option<f64>,
    stale: bool,
    bm25: Option<f64>,
    score: Option<f64>,
    tag_share: Option<f64>,
    search: Option<String>,
    access_count: Option<i64>,
    last_accessed: Option<DateTime<Utc>>,
    hours: f64,
    text_share: Option<f64>,
    vector_part: Option<f64>,
    text_part: Option<f64>,
    together_part: Option<f64>,
    exact_part: Option<f64>,
    neighbours_part: Option<f64>,
    speaker_part: Option<f64>,
    time_part: Option<f64>,
    prior_exact: Option<f64>,
    snippet: Option<String>,
    corrected: Option<Json<Vec<Correction>>>,
}

impl Row {
    fn into_hit(self, relevance: Option<&RelevanceWeights>, best_text: f64, explain: bool) -> Result<Hit> {
        let access_count = self.access_count.unwrap_or(0).max(0) as u64;
        let explanation = explain.then(|| self.explanation());
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
            (None, None) if self.by_tag => MatchedBy::Tag,
            (None, None) => MatchedBy::Neighbour,
        };
        Ok(Hit {
            node: self.node.into_node()?,
            scores: Scores {
                score: self.score.unwrap_or(0.0),
                similarity: self.similarity,
                stale: self.stale,
                text: self.bm25,
                text_share: self.text_share,
                vector_rank: self.vector_rank,
                text_rank: self.text_rank,
                tags: self.tag_share,
                relevance: relevance.map(|weights| weights.relevance(&signals)),
                reranked: None,
            },
            access_count,
            last_accessed: self.last_accessed,
            matched_by,
            snippet: self.snippet.as_deref().map(Snippet::read),
            explanation,
            folded: Vec::new(),
        })
    }

    fn explanation(&self) -> Explanation {
        let known = |part: Option<f64>| part.unwrap_or(0.0);
        let (together, exact) = (known(self.together_part), known(self.exact_part));
        Explanation::of(&[
            ("vector", known(self.vector_part)),
            ("words", known(self.text_part) - together - exact),
            ("together", together),
            ("exact", exact + known(self.prior_exact)),
            ("neighbours", known(self.neighbours_part)),
            ("speaker", known(self.speaker_part)),
            ("time", known(self.time_part)),
        ])
    }
}
