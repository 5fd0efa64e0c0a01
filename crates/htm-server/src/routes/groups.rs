//! `/v1/groups`: robots that share a working memory.
//!
//! Here they are seen and administered. The calls of members are in `members.rs`.

use axum::Json;
use htm_core::groups::{AfterShutdown, Group, TransferReceipt, TransferTarget, Transferred};
use htm_core::{GroupInfo, NodeId};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::{App, Shared};
use crate::codes;
use crate::extract::{Asked, Body, Named};
use crate::problem::{Problem, Result};
use crate::routes::memories::InNamespace;
use crate::routes::namespaces::scope;

pub(crate) fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(list))
        .routes(routes!(get))
        .routes(routes!(promote))
        .routes(routes!(demote))
        .routes(routes!(remove))
        .routes(routes!(transfer))
        .routes(routes!(shutdown))
}

pub(crate) fn group(app: &App, namespace: Option<&str>, name: String) -> Group {
    app.htm.group(name).namespace(app.namespace(namespace))
}

/// The namespaces of a list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Whose {
    /// The namespace. Default: the server's.
    namespace: Option<String>,
    /// Whether to list all namespaces.
    #[serde(default)]
    all: bool,
}

/// List groups with their members.
#[utoipa::path(get, path = "/v1/groups", tag = "groups", params(Whose),
    responses((status = 200, body = Vec<GroupInfo>)))]
async fn list(app: App, Asked(whose): Asked<Whose>) -> Result<Json<Vec<GroupInfo>>> {
    Ok(Json(app.htm.groups(&scope(whose.namespace, whose.all)).await?))
}

/// Read a group.
#[utoipa::path(get, path = "/v1/groups/{name}", tag = "groups", params(("name" = String, Path), InNamespace),
    responses((status = 200, body = GroupInfo)))]
async fn get(
    app: App,
    Named(name): Named<String>,
    Asked(place): Asked<InNamespace>,
) -> Result<Json<GroupInfo>> {
    Ok(Json(group(&app, place.namespace.as_deref(), name).info().await?))
}

/// A member of a group.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct OfMember {
    /// The namespace. Default: the server's.
    namespace: Option<String>,
    /// The member.
    robot: String,
}

/// Make a member active.
#[utoipa::path(post, path = "/v1/groups/{name}/promote", tag = "groups", params(("name" = String, Path)),
    request_body = OfMember, responses((status = 200, body = GroupInfo)))]
async fn promote(
    app: App,
    Named(name): Named<String>,
    Body(body): Body<OfMember>,
) -> Result<Json<GroupInfo>> {
    let group = group(&app, body.namespace.as_deref(), name);
    group.promote(&body.robot).await?;
    Ok(Json(group.info().await?))
}

/// Make a member passive.
#[utoipa::path(post, path = "/v1/groups/{name}/demote", tag = "groups", params(("name" = String, Path)),
    request_body = OfMember, responses((status = 200, body = GroupInfo)))]
async fn demote(app: App, Named(name): Named<String>, Body(body): Body<OfMember>) -> Result<Json<GroupInfo>> {
    let group = group(&app, body.namespace.as_deref(), name);
    group.demote(&body.robot).await?;
    Ok(Json(group.info().await?))
}

/// Remove a member.
#[utoipa::path(post, path = "/v1/groups/{name}/remove", tag = "groups", params(("name" = String, Path)),
    request_body = OfMember, responses((status = 200, body = GroupInfo)))]
async fn remove(app: App, Named(name): Named<String>, Body(body): Body<OfMember>) -> Result<Json<GroupInfo>> {
    let group = group(&app, body.namespace.as_deref(), name);
    group.remove(&body.robot).await?;
    Ok(Json(group.info().await?))
}

/// The target of memories of a group's working memory.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Transfer {
    /// The namespace. Default: the server's.
    namespace: Option<String>,
    /// These memories. Default: all.
    nodes: Option<Vec<NodeId>>,
    /// To the working memory of this group,
    to_group: Option<String>,
    /// or to that of this robot.
    to_robot: Option<String>,
}

/// The target of a transfer: one of the two.
pub(crate) fn target(group: Option<String>, robot: Option<String>) -> Result<TransferTarget> {
    match (group, robot) {
        (Some(group), None) => Ok(TransferTarget::Group(group)),
        (None, Some(robot)) => Ok(TransferTarget::Robot(robot)),
        _ => Err(Problem::new(codes::BODY_INVALID, "give to_group or to_robot, and not both")),
    }
}

/// Transfer memories of a group's working memory to another group or to a robot.
#[utoipa::path(post, path = "/v1/groups/{name}/transfer", tag = "groups", params(("name" = String, Path)),
    request_body = Transfer, responses((status = 200, body = TransferReceipt)))]
async fn transfer(
    app: App,
    Named(name): Named<String>,
    Body(body): Body<Transfer>,
) -> Result<Json<TransferReceipt>> {
    let to = target(body.to_group, body.to_robot)?;
    let what = body.nodes.map_or(Transferred::All, Transferred::Nodes);
    Ok(Json(group(&app, body.namespace.as_deref(), name).transfer(&what, &to).await?))
}

/// The fate of the working memory of a group that is shut down.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
struct Shutdown {
    /// The namespace. Default: the server's.
    namespace: Option<String>,
    /// Whether its working memory is emptied. Long-term memory is unchanged.
    clear: bool,
}

/// The effect of a shutdown.
#[derive(Debug, Serialize, ToSchema)]
struct ShutDown {
    /// Memberships that ended.
    members: u64,
}

/// Shut a group down: its members leave.
#[utoipa::path(post, path = "/v1/groups/{name}/shutdown", tag = "groups", params(("name" = String, Path)),
    request_body = Shutdown, responses((status = 200, body = ShutDown)))]
async fn shutdown(
    app: App,
    Named(name): Named<String>,
    Body(body): Body<Shutdown>,
) -> Result<Json<ShutDown>> {
    let after = if body.clear { AfterShutdown::Clear } else { AfterShutdown::Keep };
    Ok(Json(ShutDown { members: group(&app, body.namespace.as_deref(), name).shutdown(after).await? }))
}
