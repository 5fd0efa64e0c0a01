//! `/v1/recall`, `/v1/context`, `/v1/timeline`, `/v1/map`.

use axum::Json;
use htm_core::error::codes::BUDGET_OUT_OF_RANGE;
use htm_core::{
    ContextHeader, ContextOptions, CountBy, Filter, Intake, MemoryMap, NodeId, RecallQuery, Recalled,
    RobotContext, Role, Strategy, TagFilter, TimeCount, TimeStep, Timeline, TimelineQuery, UnknownName,
    WorkingMemoryStats,
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::access::enough;
use crate::app::{App, Shared};
use crate::codes;
use crate::extract::{Asked, Body};
use crate::filter::{FilterBody, prefixes};
use crate::limits::{MAX_CONTEXT_TOKENS, MAX_SEPARATOR};
use crate::problem::{Problem, Result};

pub(crate) fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(recall, recall_simply))
        .routes(routes!(context))
        .routes(routes!(timeline))
        .routes(routes!(counts))
        .routes(routes!(map))
}

/// A query. Only the text is required.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct RecallBody {
    /// The question or the words. `"a phrase"` is preferred, `-word` is excluded, `word*` is a prefix.
    /// With `vector` and strategy `vector` it may be left out.
    #[serde(default)]
    query: String,
    /// Its vector by the searched model, in place of an embedding by the model's provider.
    vector: Option<Vec<f32>>,
    /// The searched memories.
    #[serde(default)]
    filter: FilterBody,
    /// How it searches. Default: hybrid.
    strategy: Option<Strategy>,
    /// The most hits, 1 to 10,000. Default: 20.
    limit: Option<usize>,
    /// The least cosine similarity of hits by vectors, 0 to 1.
    min_similarity: Option<f64>,
    /// Preferred tags: hits are then ordered by relevance.
    #[serde(default)]
    boost_tags: Vec<String>,
    /// Weights of relevance: `similarity=0.7,recency=0.3`, or `relevance`.
    order_by: Option<String>,
    /// The labels of the embedding models to search. Default: the active one.
    #[serde(default)]
    models: Vec<String>,
    /// Whether to return the best excerpt of each hit.
    #[serde(default)]
    snippets: bool,
    /// Whether to return the parts of each score.
    #[serde(default)]
    explain: bool,
    /// Whether unknown words are spell-corrected. Default: true.
    correct: Option<bool>,
    /// Whether a re-ranker orders the first candidates.
    #[serde(default)]
    rerank: bool,
    /// Prefers hits that differ: 0 (score only) to 1 (novelty only).
    diversity: Option<f64>,
    /// Whether near-duplicates become one hit.
    #[serde(default)]
    fold: bool,
    /// Whether the passages of a document become one hit.
    #[serde(default)]
    fold_documents: bool,
    /// The neighbours to return of each hit in a conversation or a document, on each side: 0 to 10, none with
    /// `as_of`. Default: 0.
    #[serde(default)]
    #[schema(maximum = 10)]
    neighbours: usize,
    /// Whether a language model rephrases the query.
    #[serde(default)]
    expand: bool,
    /// Whether the hits' times to live start again. Needs a writer's key.
    #[serde(default)]
    refresh: bool,
    /// Whether hits count as accessed. Default: true.
    count_accesses: Option<bool>,
    /// Whether a memory that supersedes a hit takes its place.
    #[serde(default)]
    follow: bool,
    /// Answers as the memory stood at this time: a date (midnight in the server's time zone), an RFC 3339 time, or words.
    /// Its hits enter no working memory, count as no access and refresh nothing. Default: now.
    as_of: Option<String>,
    /// The robot that asks: the hits enter its working memory, which needs a writer's key. Default: nobody.
    robot: Option<String>,
}

impl RecallBody {
    fn read(self, app: &App) -> Result<RecallQuery> {
        let plain = RecallQuery::new(self.query);
        Ok(RecallQuery {
            filter: self.filter.read(app)?,
            strategy: self.strategy.unwrap_or_default(),
            limit: self.limit.unwrap_or(plain.limit),
            min_similarity: self.min_similarity,
            boost_tags: prefixes(app, &self.boost_tags)?,
            order_by: self.order_by.as_deref().map(str::parse).transpose()?,
            models: self.models,
            vector: self.vector,
            snippets: self.snippets,
            explain: self.explain,
            correct: self.correct.unwrap_or(true),
            rerank: self.rerank,
            diversity: self.diversity,
            fold: self.fold,
            fold_documents: self.fold_documents,
            neighbours: self.neighbours,
            expand: self.expand,
            refresh: self.refresh,
            follow: self.follow,
            as_of: app.as_of(self.as_of.as_deref())?,
            count_accesses: self.count_accesses.unwrap_or(true),
            ..plain
        })
    }
}

/// The hits, and what they did to the working memory of the robot that asked.
#[derive(Debug, Serialize, ToSchema)]
struct Answer {
    #[serde(flatten)]
    recalled: Recalled,
    /// The changes of the working memory. Null if no robot asked.
    working_memory: Option<Intake>,
    /// The names in the filter, and among preferred tags, that nothing has.
    unknown_names: Vec<UnknownName>,
}

/// The names in a filter, and among preferred tags, that nothing has. Something that was found has all that the filter
/// requires: then they are looked up only if the filter requires one of several. An answer is not lost to a failed look-up.
async fn unknown_names(
    app: &App,
    filter: &Filter,
    preferred: &[TagFilter],
    is_found: bool,
) -> Vec<UnknownName> {
    let requires_one_of = filter.namespaces.len() > 1 || filter.robots.len() > 1 || filter.any_tag;
    let names_any = !(filter.namespaces.is_empty() && filter.robots.is_empty() && filter.tags.is_empty());
    let may_have_missed = names_any && (!is_found || requires_one_of);
    if !may_have_missed && preferred.is_empty() {
        return Vec::new();
    }
    app.htm.unknown_names(filter, preferred).await.unwrap_or_else(|error| {
        tracing::warn!(error = error.code(), "the names in a filter could not be looked up");
        Vec::new()
    })
}

/// Recall memories.
#[utoipa::path(post, path = "/v1/recall", tag = "recall", request_body = RecallBody,
    responses((status = 200, body = Answer)))]
async fn recall(app: App, Body(body): Body<RecallBody>) -> Result<Json<Answer>> {
    if body.refresh || body.robot.is_some() {
        enough(app.role, Role::Writer, "a change of times to live or working memories")?;
    }
    let robot = body.robot.clone();
    let query = body.read(&app)?;
    let (recalled, working_memory) = match robot {
        None => (app.htm.recall(&query).await?, None),
        Some(name) => {
            let namespace = app.namespace(query.filter.namespaces.first().map(String::as_str)).to_owned();
            let robot = app.htm.robot_in(&namespace, &name).await?;
            let answer = robot.recall(&query).await?;
            robot.close().await?;
            (answer.recalled, Some(answer.intake))
        }
    };
    let is_found = !recalled.hits.is_empty();
    let unknown_names = unknown_names(&app, &query.filter, &query.boost_tags, is_found).await;
    Ok(Json(Answer { recalled, working_memory, unknown_names }))
}

/// A query of a few parameters.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct SimpleQuery {
    /// The question or the words.
    q: String,
    /// The namespace. Default: the server's.
    namespace: Option<String>,
    /// The time: `last week`, `2026-03-01..2026-04-01`, `auto`. Default: any.
    timeframe: Option<String>,
    /// A required tag, with the tags below it.
    tag: Option<String>,
    /// How it searches. Default: hybrid.
    strategy: Option<Strategy>,
    /// The most hits, 1 to 10,000. Default: 20.
    limit: Option<usize>,
    /// Answers as the memory stood at this time. Default: now.
    as_of: Option<String>,
}

/// Recall memories, by a URL.
///
/// POST has all parameters, and keeps the query out of the logs of proxies.
#[utoipa::path(get, path = "/v1/recall", tag = "recall", params(SimpleQuery),
    responses((status = 200, body = Answer)))]
async fn recall_simply(app: App, Asked(asked): Asked<SimpleQuery>) -> Result<Json<Answer>> {
    let filter = FilterBody {
        namespaces: asked.namespace.into_iter().collect(),
        timeframe: asked.timeframe,
        tags: asked.tag.into_iter().collect(),
        ..FilterBody::default()
    };
    let plain = RecallQuery::new(asked.q);
    let query = RecallQuery {
        filter: filter.read(&app)?,
        strategy: asked.strategy.unwrap_or_default(),
        limit: asked.limit.unwrap_or(plain.limit),
        as_of: app.as_of(asked.as_of.as_deref())?,
        ..plain
    };
    let recalled = app.htm.recall(&query).await?;
    let unknown_names = unknown_names(&app, &query.filter, &[], !recalled.hits.is_empty()).await;
    Ok(Json(Answer { recalled, working_memory: None, unknown_names }))
}

/// The text for a prompt.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ContextBody {
    /// The robot whose working memory it is. A query registers a new one.
    robot: String,
    /// Recalls this first: the hits enter the working memory, and come first in the text, the best one first. Needs a
    /// writer's key.
    query: Option<String>,
    /// The memories of the context, and of the query.
    #[serde(default)]
    filter: FilterBody,
    /// How the query is searched. Default: hybrid.
    strategy: Option<Strategy>,
    /// Whether unknown words of the query are spell-corrected. Default: true.
    correct: Option<bool>,
    /// The most hits of the query. Default: 20.
    limit: Option<usize>,
    /// The order of the memories after the hits: recent, important, frequent, balanced. Default: balanced.
    order: Option<String>,
    /// The most tokens of the text, 1 to 1,000,000. Default: 4,000.
    #[schema(minimum = 1, maximum = 1_000_000)]
    max_tokens: Option<u32>,
    /// The separator between two memories, up to 1,024 characters. Default: an empty line.
    #[schema(max_length = 1_024)]
    separator: Option<String>,
    /// Whether each memory has a line with its age, its source, and the memory that supersedes it.
    #[serde(default)]
    header: bool,
}

/// The context, and the query's hits.
#[derive(Debug, Serialize, ToSchema)]
struct ContextAnswer {
    #[serde(flatten)]
    context: RobotContext,
    /// The hits of the query. Null without a query.
    recalled: Option<Recalled>,
    /// Memories that no longer fit, because the token budget is smaller than it was.
    left_behind: Vec<NodeId>,
    /// The use of the working memory.
    working_memory: WorkingMemoryStats,
    /// The names in the filter that nothing has.
    unknown_names: Vec<UnknownName>,
}

/// The options of a context.
pub(super) fn options(
    order: Option<&str>,
    max_tokens: Option<u32>,
    separator: Option<String>,
    header: bool,
) -> Result<ContextOptions> {
    let max_tokens = max_tokens.unwrap_or(4_000);
    if !(1..=MAX_CONTEXT_TOKENS).contains(&max_tokens) {
        let problem = format!("max_tokens {max_tokens} is outside 1 to {MAX_CONTEXT_TOKENS}");
        let hint = format!("give a number from 1 to {MAX_CONTEXT_TOKENS}");
        return Err(Problem::new(BUDGET_OUT_OF_RANGE, problem).with_hint(&hint));
    }
    let plain = ContextOptions::new(max_tokens as usize);
    let separator = separator.unwrap_or(plain.separator);
    let characters = separator.chars().count();
    if characters > MAX_SEPARATOR {
        let problem = format!("separator has {characters} characters; at most {MAX_SEPARATOR}");
        return Err(Problem::new(codes::BODY_INVALID, problem));
    }
    Ok(ContextOptions {
        order: order.map(str::parse).transpose()?.unwrap_or_default(),
        separator,
        header: if header { ContextHeader::AgeAndSource } else { ContextHeader::None },
        ..plain
    })
}

/// Make the text for a prompt from a robot's working memory.
#[utoipa::path(post, path = "/v1/context", tag = "recall", request_body = ContextBody,
    responses((status = 200, body = ContextAnswer)))]
async fn context(app: App, Body(body): Body<ContextBody>) -> Result<Json<ContextAnswer>> {
    if body.query.is_some() {
        enough(app.role, Role::Writer, "a change of a working memory")?;
    }
    let options = options(body.order.as_deref(), body.max_tokens, body.separator, body.header)?;
    let filter = body.filter.read(&app)?;
    let namespace = app.namespace(filter.namespaces.first().map(String::as_str)).to_owned();
    if body.query.is_none() {
        // A mistyped name would otherwise become a robot with an empty working memory.
        app.htm.find_robot(Some(&namespace), &body.robot).await?;
    }
    let robot = app.htm.robot_in(&namespace, &body.robot).await?;
    let recalled = match body.query {
        None => None,
        Some(text) => {
            let plain = RecallQuery::new(text);
            let query = RecallQuery {
                filter: filter.clone(),
                strategy: body.strategy.unwrap_or_default(),
                correct: body.correct.unwrap_or(true),
                limit: body.limit.unwrap_or(plain.limit),
                ..plain
            };
            Some(robot.recall(&query).await?.recalled)
        }
    };
    let context = robot.context_after(recalled.as_ref(), &filter, &options).await?;
    let (left_behind, working_memory) = (robot.left_behind().to_vec(), robot.working_memory_stats());
    robot.close().await?;
    let is_found = recalled.as_ref().is_some_and(|it| !it.hits.is_empty());
    let unknown_names = unknown_names(&app, &filter, &[], is_found).await;
    Ok(Json(ContextAnswer { context, recalled, left_behind, working_memory, unknown_names }))
}

/// The query of a timeline.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
struct TimelineBody {
    /// The topic. Default: everything.
    topic: Option<String>,
    /// The memories of the timeline.
    filter: FilterBody,
    /// How the topic is searched. Default: hybrid.
    strategy: Option<Strategy>,
    /// Whether unknown words of the topic are spell-corrected. Default: true.
    correct: Option<bool>,
    /// The most memories, 1 to 10,000: the most relevant to the topic, or the latest without one. Default: 20.
    limit: Option<usize>,
    /// As the memory stood at this time: a date, an RFC 3339 time, or words. Default: now.
    as_of: Option<String>,
}

/// The memories, in chronological order.
#[derive(Debug, Serialize, ToSchema)]
struct TimelineAnswer {
    #[serde(flatten)]
    timeline: Timeline,
    /// The names in the filter that nothing has.
    unknown_names: Vec<UnknownName>,
}

/// List memories in chronological order.
#[utoipa::path(post, path = "/v1/timeline", tag = "recall", request_body = TimelineBody,
    responses((status = 200, body = TimelineAnswer)))]
async fn timeline(app: App, Body(body): Body<TimelineBody>) -> Result<Json<TimelineAnswer>> {
    let query = TimelineQuery {
        topic: body.topic,
        filter: body.filter.read(&app)?,
        strategy: body.strategy.unwrap_or_default(),
        correct: body.correct.unwrap_or(true),
        limit: body.limit.unwrap_or(20),
        as_of: app.as_of(body.as_of.as_deref())?,
    };
    let timeline = app.htm.conversation_timeline(&query).await?;
    let unknown_names = unknown_names(&app, &query.filter, &[], !timeline.entries.is_empty()).await;
    Ok(Json(TimelineAnswer { timeline, unknown_names }))
}

/// The query of counts over time.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct CountsBody {
    /// The counted memories.
    #[serde(default)]
    filter: FilterBody,
    /// The step of time, in UTC.
    step: TimeStep,
    /// The division of each step. Default: none.
    #[serde(default)]
    by: CountBy,
    /// The most counts, 1 to 10,000. Default: 1,000.
    limit: Option<usize>,
}

/// Count memories over time, the earliest first. Steps without any are left out.
#[utoipa::path(post, path = "/v1/timeline/counts", tag = "recall", request_body = CountsBody,
    responses((status = 200, body = Vec<TimeCount>)))]
async fn counts(app: App, Body(body): Body<CountsBody>) -> Result<Json<Vec<TimeCount>>> {
    let filter = body.filter.read(&app)?;
    Ok(Json(app.htm.count_over_time(&filter, body.step, body.by, body.limit.unwrap_or(1_000)).await?))
}

/// The query of a map.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
struct MapBody {
    /// The memories of the map.
    filter: FilterBody,
    /// The most memories, 1 to 5,000: a sample of those that pass the filter. Default: 2,000.
    limit: Option<usize>,
}

/// Show a sample of memories in two dimensions, by their vectors.
#[utoipa::path(post, path = "/v1/map", tag = "recall", request_body = MapBody,
    responses((status = 200, body = MemoryMap)))]
async fn map(app: App, Body(body): Body<MapBody>) -> Result<Json<MemoryMap>> {
    let filter = body.filter.read(&app)?;
    Ok(Json(app.htm.map(&filter, body.limit.unwrap_or(2_000)).await?))
}
