//! `/v1/memories/{id}/relations`.

use axum::Json;
use axum::http::StatusCode;
use htm_core::{NodeId, Related, RelatedBy, Relating, Relation, RelationKind};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::memories::caller;
use crate::app::{App, Shared};
use crate::extract::{Asked, Body, Named};
use crate::problem::Result;

pub(crate) fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(related, relate, unrelate))
}

/// The limits of a list of related memories.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct RelatedQuery {
    /// Only those that are related in this way. Default: in any.
    kind: Option<RelatedBy>,
    /// The most memories of each kind, 1 to 10,000. Default: 10.
    limit: Option<usize>,
}

/// List what a memory is related to.
///
/// Relations that were set come first, then near-duplicates by the vectors, then memories with the same rare tags.
#[utoipa::path(get, path = "/v1/memories/{id}/relations", tag = "memories", params(("id" = i64, Path), RelatedQuery),
    responses((status = 200, body = Related)))]
async fn related(
    app: App,
    Named(id): Named<NodeId>,
    Asked(asked): Asked<RelatedQuery>,
) -> Result<Json<Related>> {
    Ok(Json(app.htm.related(id, asked.kind, asked.limit.unwrap_or(10)).await?))
}

/// A relation of the memory of the path to another one.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct RelationBody {
    /// The kind.
    kind: RelationKind,
    /// The memory that is superseded or contradicted.
    to: NodeId,
    /// The reason.
    reason: Option<String>,
    /// The namespace of the robot that says so. Default: the server's.
    namespace: Option<String>,
    /// The robot that says so: it must have first remembered the memory of the path. Default: the server's.
    robot: Option<String>,
    /// Whether the memory of the path may be of any robot.
    #[serde(default)]
    any_robot: bool,
}

/// Say that a memory supersedes or contradicts another one.
///
/// Both are in one namespace. A relation that is set already stays as it is: 200 instead of 201.
#[utoipa::path(post, path = "/v1/memories/{id}/relations", tag = "memories", request_body = RelationBody,
    params(("id" = i64, Path)), responses((status = 201, body = Relating), (status = 200, body = Relating)))]
async fn relate(
    app: App,
    Named(id): Named<NodeId>,
    Body(body): Body<RelationBody>,
) -> Result<(StatusCode, Json<Relating>)> {
    let caller = caller(&app, body.namespace, body.robot, body.any_robot);
    let made = app.htm.relate(id, body.kind, body.to, body.reason.as_deref(), &caller).await?;
    let status = if made.is_new { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, Json(made)))
}

/// A relation to remove, and who removes it.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct UnrelateQuery {
    /// The kind.
    kind: RelationKind,
    /// The memory that is superseded or contradicted.
    to: NodeId,
    /// The namespace of the robot that removes it. Default: the server's.
    namespace: Option<String>,
    /// The robot that removes it: it must have first remembered the memory of the path. Default: the server's.
    robot: Option<String>,
    /// Whether the memory of the path may be of any robot. Default: false.
    any_robot: Option<bool>,
}

/// Remove a relation of a memory to another one.
#[utoipa::path(delete, path = "/v1/memories/{id}/relations", tag = "memories",
    params(("id" = i64, Path), UnrelateQuery), responses((status = 200, body = Relation)))]
async fn unrelate(
    app: App,
    Named(id): Named<NodeId>,
    Asked(asked): Asked<UnrelateQuery>,
) -> Result<Json<Relation>> {
    let caller = caller(&app, asked.namespace, asked.robot, asked.any_robot.unwrap_or(false));
    Ok(Json(app.htm.unrelate(id, asked.kind, asked.to, &caller).await?))
}
