//! `/v1/namespaces`, `/v1/stats`, `/v1/sweep`, `/v1/purge`.

use axum::Json;
use chrono::{DateTime, Utc};
use htm_core::{
    FieldChange, MemoryStats, NamespaceQuery, Purge, Purged, Retention, RetentionPlan, Scope, StatsQuery,
    Swept,
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::{App, Shared};
use crate::extract::{Asked, Body, next};
use crate::problem::Result;
use crate::routes::forget::confirmation;
use crate::routes::memories::{InNamespace, caller, change};

pub(crate) fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(list))
        .routes(routes!(retention, set_retention))
        .routes(routes!(stats))
        .routes(routes!(sweep))
        .routes(routes!(purge))
}

/// The namespaces to list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ListQuery {
    /// The first labels; the label `*` stands for any.
    prefix: Option<String>,
    /// The last labels; the label `*` stands for any.
    suffix: Option<String>,
    /// The most labels: deeper namespaces are cut to these, and each is listed once.
    depth: Option<usize>,
    /// `next` of the previous page.
    cursor: Option<String>,
    /// The most namespaces, 1 to 10,000. Default: 100.
    limit: Option<usize>,
}

/// A page of namespaces.
#[derive(Debug, Serialize, ToSchema)]
struct Namespaces {
    namespaces: Vec<String>,
    /// The cursor of the next page; null: this is the last.
    next: Option<String>,
}

/// List namespaces.
#[utoipa::path(get, path = "/v1/namespaces", tag = "namespaces", params(ListQuery),
    responses((status = 200, body = Namespaces)))]
async fn list(app: App, Asked(asked): Asked<ListQuery>) -> Result<Json<Namespaces>> {
    let limit = asked.limit.unwrap_or(100);
    let query = NamespaceQuery {
        prefix: asked.prefix,
        suffix: asked.suffix,
        depth: asked.depth,
        after: asked.cursor,
        limit,
    };
    let namespaces = app.htm.list_namespaces(&query).await?;
    let next = next(&namespaces, limit, String::clone);
    Ok(Json(Namespaces { namespaces, next }))
}

/// Read the retention policy of a namespace.
#[utoipa::path(get, path = "/v1/retention", tag = "namespaces", params(InNamespace),
    responses((status = 200, body = Retention)))]
async fn retention(app: App, Asked(place): Asked<InNamespace>) -> Result<Json<Retention>> {
    Ok(Json(app.htm.retention(place.namespace.as_deref()).await?))
}

/// A retention policy. Null keeps everything; a time that is not given stays.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewRetention {
    /// The namespace. Default: the server's.
    namespace: Option<String>,
    /// The age in seconds at which a memory is forgotten.
    #[serde(default, deserialize_with = "change")]
    #[schema(value_type = Option<i64>)]
    forget_after_seconds: FieldChange<i64>,
    /// The time in seconds from forgetting to deletion.
    #[serde(default, deserialize_with = "change")]
    #[schema(value_type = Option<i64>)]
    purge_after_seconds: FieldChange<i64>,
    /// Answers with the plan, and sets nothing.
    #[serde(default)]
    dry_run: bool,
    /// A policy by which the next sweep removes something is refused without it.
    #[serde(default)]
    confirm: bool,
}

/// Change the retention policy of a namespace.
///
/// Only the given times change. Answers what the next sweep will remove by it, and not by the policy before.
#[utoipa::path(patch, path = "/v1/retention", tag = "namespaces", request_body = NewRetention,
    responses((status = 200, body = RetentionPlan)))]
async fn set_retention(app: App, Body(body): Body<NewRetention>) -> Result<Json<RetentionPlan>> {
    let namespace = body.namespace.as_deref();
    let changed = |mut policy: Retention| {
        body.forget_after_seconds.apply(&mut policy.forget_after_seconds);
        body.purge_after_seconds.apply(&mut policy.purge_after_seconds);
        policy
    };
    let plan = match body.dry_run {
        true => app.htm.plan_retention(namespace, changed(app.htm.retention(namespace).await?)).await?,
        false => app.htm.change_retention(namespace, changed, confirmation(body.confirm)).await?.1,
    };
    Ok(Json(plan))
}

/// The memories to count.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Counting {
    /// The namespace. Default: the server's.
    namespace: Option<String>,
    /// Whether to count all namespaces.
    #[serde(default)]
    all: bool,
    /// The most rows of each list. Default: 10.
    top: Option<u32>,
}

/// The namespaces that a request is about.
pub(crate) fn scope(namespace: Option<String>, all: bool) -> Scope {
    match (all, namespace) {
        (true, _) => Scope::All,
        (false, Some(namespace)) => Scope::Namespace(namespace),
        (false, None) => Scope::Own,
    }
}

/// Count memories, robots, tags, jobs and storage.
#[utoipa::path(get, path = "/v1/stats", tag = "namespaces", params(Counting),
    responses((status = 200, body = MemoryStats)))]
async fn stats(app: App, Asked(asked): Asked<Counting>) -> Result<Json<MemoryStats>> {
    let scope = scope(asked.namespace, asked.all);
    Ok(Json(app.htm.memory_stats(&StatsQuery { scope, top: asked.top.unwrap_or(10) }).await?))
}

/// Forget what has expired, and carry out the retention policies now.
#[utoipa::path(post, path = "/v1/sweep", tag = "namespaces", responses((status = 200, body = Swept)))]
async fn sweep(app: App) -> Result<Json<Swept>> {
    Ok(Json(app.htm.sweep().await?))
}

/// The memories to purge.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct PurgeBody {
    /// Memories that were forgotten before this time.
    before: DateTime<Utc>,
    /// The namespace. Default: the server's.
    namespace: Option<String>,
    /// Whether to purge all namespaces.
    #[serde(default)]
    all: bool,
    /// The robot that purges what it remembered. Default: the server's.
    robot: Option<String>,
    /// Whether memories of any robot may be purged.
    #[serde(default)]
    any_robot: bool,
    /// Answers with the counts, and deletes nothing.
    #[serde(default)]
    dry_run: bool,
    /// The act is refused without it.
    #[serde(default)]
    confirm: bool,
}

/// Delete forgotten memories. It cannot be undone.
#[utoipa::path(post, path = "/v1/purge", tag = "namespaces", request_body = PurgeBody,
    responses((status = 200, body = Purged)))]
async fn purge(app: App, Body(body): Body<PurgeBody>) -> Result<Json<Purged>> {
    let caller = caller(&app, body.namespace.clone(), body.robot, body.any_robot);
    let purge = Purge { before: body.before, scope: scope(body.namespace, body.all), caller };
    let purged = match body.dry_run {
        true => app.htm.plan_purge(&purge).await?,
        false => app.htm.purge(&purge, confirmation(body.confirm)).await?,
    };
    Ok(Json(purged))
}
