//! `/v1/robots` and their working memories.

use axum::Json;
use htm_core::error::codes::CURSOR_INVALID;
use htm_core::working_memory::Entry;
use htm_core::{Htm, Intake, MergeReceipt, NodeId, Robot, RobotInfo, RobotStatistics, WorkingMemoryStats};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

use crate::app::{App, Shared};
use crate::codes;
use crate::extract::{Asked, Body, Named, cursor, limit, next};
use crate::problem::{Problem, Result};
use crate::routes::memories::InNamespace;
use crate::routes::namespaces::scope;

pub(crate) fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(list, register))
        .routes(routes!(merge))
        .routes(routes!(get, edit))
        .routes(routes!(get_working_memory, add, clear))
        .routes(routes!(remove))
}

/// The robots to list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ListQuery {
    /// The namespace. Default: the server's.
    namespace: Option<String>,
    /// Whether to list all namespaces.
    #[serde(default)]
    all: bool,
    /// `next` of the previous page.
    #[param(value_type = Option<Uuid>)]
    cursor: Option<String>,
    /// The most robots, 1 to 10,000. Default: 100.
    limit: Option<u32>,
}

/// A page of robots, by their namespaces and names.
#[derive(Debug, Serialize, ToSchema)]
struct RobotPage {
    robots: Vec<RobotStatistics>,
    /// The cursor of the next page; null: this is the last.
    next: Option<Uuid>,
}

/// List robots with their statistics.
#[utoipa::path(get, path = "/v1/robots", tag = "robots", params(ListQuery),
    responses((status = 200, body = RobotPage)))]
async fn list(app: App, Asked(asked): Asked<ListQuery>) -> Result<Json<RobotPage>> {
    let limit = limit(asked.limit, 100, 10_000)? as usize;
    let after: Option<Uuid> = cursor(asked.cursor.as_deref())?;
    // The memories of all robots are counted at once, for every page.
    let mut robots = app.htm.robots(&scope(asked.namespace, asked.all)).await?;
    if let Some(after) = after {
        let last = robots.iter().position(|it| it.robot.uuid == after);
        let gone = || Problem::new(CURSOR_INVALID, format!("no robot of the list has the uuid `{after}`"));
        robots.drain(..=last.ok_or_else(gone)?);
    }
    robots.truncate(limit);
    let next = next(&robots, limit, |it| it.robot.uuid);
    Ok(Json(RobotPage { robots, next }))
}

/// A new robot.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
struct NewRobot {
    /// The namespace. Default: the server's.
    namespace: Option<String>,
    /// Its name. Default: a new one, such as `quiet-heron-7`.
    name: Option<String>,
    /// Its metadata.
    #[schema(value_type = Object)]
    metadata: Map<String, Value>,
}

/// Register a robot before its first memory.
#[utoipa::path(post, path = "/v1/robots", tag = "robots", request_body = NewRobot,
    responses((status = 200, body = RobotInfo)))]
async fn register(app: App, Body(body): Body<NewRobot>) -> Result<Json<RobotInfo>> {
    let namespace = body.namespace.as_deref();
    Ok(Json(app.htm.register_robot(namespace, body.name.as_deref(), body.metadata).await?))
}

/// Read a robot with its statistics.
#[utoipa::path(get, path = "/v1/robots/{name}", tag = "robots", params(("name" = String, Path), InNamespace),
    responses((status = 200, body = RobotStatistics)))]
async fn get(
    app: App,
    Named(name): Named<String>,
    Asked(place): Asked<InNamespace>,
) -> Result<Json<RobotStatistics>> {
    Ok(Json(app.htm.robot_info(place.namespace.as_deref(), &name).await?))
}

/// A change of a robot: its name, its metadata or its budget.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
struct RobotChange {
    /// The namespace. Default: the server's.
    namespace: Option<String>,
    /// Its new name.
    name: Option<String>,
    /// Entries of its metadata to set; null removes one.
    #[schema(value_type = Option<Object>)]
    metadata: Option<Map<String, Value>>,
    /// The token budget of its working memory.
    max_tokens: Option<usize>,
}

/// Change a robot.
#[utoipa::path(patch, path = "/v1/robots/{name}", tag = "robots", params(("name" = String, Path)),
    request_body = RobotChange, responses((status = 200, body = RobotStatistics)))]
async fn edit(
    app: App,
    Named(name): Named<String>,
    Body(body): Body<RobotChange>,
) -> Result<Json<RobotStatistics>> {
    let namespace = body.namespace.as_deref();
    // Each change is a transaction, so a request makes one.
    let name = match (body.name, body.metadata, body.max_tokens) {
        (Some(new), None, None) => app.htm.rename_robot(namespace, &name, &new).await?.name,
        (None, Some(metadata), None) => app.htm.set_robot_metadata(namespace, &name, metadata).await?.name,
        (None, None, Some(tokens)) => app.htm.set_robot_budget(namespace, &name, Some(tokens)).await?.name,
        _ => return Err(Problem::new(codes::BODY_INVALID, "give one of name, metadata and max_tokens")),
    };
    Ok(Json(app.htm.robot_info(namespace, &name).await?))
}

/// A merge of robots.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct MergeRobots {
    /// The namespace. Default: the server's.
    namespace: Option<String>,
    /// The robots that go.
    from: Vec<String>,
    /// The robot that stays.
    into: String,
    /// Answers with the plan, and changes nothing.
    #[serde(default)]
    dry_run: bool,
}

/// Merge robots into one.
#[utoipa::path(post, path = "/v1/robots/merge", tag = "robots", request_body = MergeRobots,
    responses((status = 200, body = MergeReceipt)))]
async fn merge(app: App, Body(body): Body<MergeRobots>) -> Result<Json<MergeReceipt>> {
    let from: Vec<&str> = body.from.iter().map(String::as_str).collect();
    let namespace = body.namespace.as_deref();
    let receipt = match body.dry_run {
        true => app.htm.would_merge_robots(namespace, &from, &body.into).await?,
        false => app.htm.merge_robots(namespace, &from, &body.into).await?,
    };
    Ok(Json(receipt))
}

/// A working memory.
#[derive(Debug, Serialize, ToSchema)]
struct Working {
    /// Its use.
    stats: WorkingMemoryStats,
    /// Its memories, the first to be evicted first.
    nodes: Vec<Entry>,
}

/// Read a robot's working memory.
#[utoipa::path(get, path = "/v1/robots/{name}/working-memory", tag = "working memory",
    operation_id = "get", params(("name" = String, Path), InNamespace), responses((status = 200, body = Working)))]
async fn get_working_memory(
    app: App,
    Named(name): Named<String>,
    Asked(place): Asked<InNamespace>,
) -> Result<Json<Working>> {
    let memory = app.htm.working_memory(place.namespace.as_deref(), &name).await?;
    Ok(Json(Working { stats: memory.stats(), nodes: memory.in_eviction_order().cloned().collect() }))
}

/// Opens a known robot.
async fn open(app: &App, namespace: Option<&str>, name: &str) -> Result<Robot> {
    let htm: &Htm = &app.htm;
    htm.find_robot(namespace, name).await?;
    Ok(htm.robot_in(app.namespace(namespace), name).await?)
}

/// Memories to add to a working memory.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct AddNodes {
    /// The namespace. Default: the server's.
    namespace: Option<String>,
    /// The ids of the memories. Of equally important ones, the last is evicted last.
    nodes: Vec<NodeId>,
}

/// Add memories to a robot's working memory.
#[utoipa::path(post, path = "/v1/robots/{name}/working-memory", tag = "working memory",
    params(("name" = String, Path)), request_body = AddNodes, responses((status = 200, body = Intake)))]
async fn add(app: App, Named(name): Named<String>, Body(body): Body<AddNodes>) -> Result<Json<Intake>> {
    let robot = open(&app, body.namespace.as_deref(), &name).await?;
    let intake = robot.add(&body.nodes).await?;
    robot.close().await?;
    Ok(Json(intake))
}

/// The number of removed memories.
#[derive(Debug, Serialize, ToSchema)]
struct RemovedNodes {
    /// Memories that left the working memory. Long-term memory is unchanged.
    removed: usize,
}

/// Remove a memory from a robot's working memory.
#[utoipa::path(delete, path = "/v1/robots/{name}/working-memory/{id}", tag = "working memory",
    params(("name" = String, Path), ("id" = i64, Path), InNamespace),
    responses((status = 200, body = RemovedNodes)))]
async fn remove(
    app: App,
    Named((name, id)): Named<(String, NodeId)>,
    Asked(place): Asked<InNamespace>,
) -> Result<Json<RemovedNodes>> {
    let robot = open(&app, place.namespace.as_deref(), &name).await?;
    let removed = robot.remove(id).into();
    robot.close().await?;
    Ok(Json(RemovedNodes { removed }))
}

/// Empty a robot's working memory.
#[utoipa::path(delete, path = "/v1/robots/{name}/working-memory", tag = "working memory",
    params(("name" = String, Path), InNamespace), responses((status = 200, body = RemovedNodes)))]
async fn clear(
    app: App,
    Named(name): Named<String>,
    Asked(place): Asked<InNamespace>,
) -> Result<Json<RemovedNodes>> {
    let robot = open(&app, place.namespace.as_deref(), &name).await?;
    let removed = robot.clear();
    robot.close().await?;
    Ok(Json(RemovedNodes { removed }))
}
