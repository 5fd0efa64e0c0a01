//! The acts of a member of a group over HTTP. It has the id of its membership in place of a process. Any server over the
//! database answers for it, and it renews its lease by heartbeats.

use std::time::Duration;

use axum::Json;
use htm_core::groups::{TransferReceipt, Transferred};
use htm_core::{Context, GroupNews, GroupRole, JoinOptions, Membership, MembershipId, NodeId};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::groups::{group, target};
use super::recall::options;
use crate::app::{App, Shared};
use crate::extract::{Asked, Body, Named};
use crate::filter::FilterBody;
use crate::problem::Result;

/// The default lease: clients are farther away than processes.
const LEASE: Duration = Duration::from_secs(30);

pub(crate) fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(leave))
        .routes(routes!(add))
        .routes(routes!(remove))
        .routes(routes!(transfer))
}

/// The paths that answer with the texts of memories, and may be asked again.
pub(crate) fn reads() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(join)).routes(routes!(heartbeat)).routes(routes!(context))
}

/// A new member.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Join {
    /// The namespace. Default: the server's.
    namespace: Option<String>,
    /// The robot.
    robot: String,
    /// Its role. Default: active if no other active member is alive, otherwise passive.
    #[serde(default)]
    role: Option<GroupRole>,
    /// The time between two heartbeats after which it is lost, in milliseconds, 100 to 86,400,000. Default: 30,000.
    lease_ms: Option<u64>,
    /// The token budget of the group, if this is its first member. Default: 128,000.
    max_tokens: Option<u64>,
}

/// A membership.
#[derive(Debug, Serialize, ToSchema)]
struct Joined {
    /// Its id. Its holder acts for the robot.
    membership: MembershipId,
    /// The time after a heartbeat for which the member is alive. Send one each third of it.
    lease_ms: u64,
    #[serde(flatten)]
    news: GroupNews,
}

/// Join a group as a robot; the group is made if needed.
///
/// An earlier membership of the robot is replaced, also that of a process.
#[utoipa::path(post, path = "/v1/groups/{name}/members", tag = "members", params(("name" = String, Path)),
    request_body = Join, responses((status = 200, body = Joined)))]
async fn join(app: App, Named(name): Named<String>, Body(body): Body<Join>) -> Result<Json<Joined>> {
    let plain = JoinOptions::default();
    let options = JoinOptions {
        role: body.role,
        lease: body.lease_ms.map_or(LEASE, Duration::from_millis),
        max_tokens: body.max_tokens.unwrap_or(plain.max_tokens),
    };
    let (membership, news) = group(&app, body.namespace.as_deref(), name).enter(&body.robot, options).await?;
    let lease_ms = membership.lease().as_millis() as u64;
    Ok(Json(Joined { membership: membership.id(), lease_ms, news }))
}

/// Continues a membership.
async fn continued(
    app: &App,
    namespace: Option<&str>,
    (name, robot): (String, String),
    membership: MembershipId,
) -> Result<Membership> {
    Ok(group(app, namespace, name).membership(&robot, membership).await?)
}

/// A heartbeat.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Heartbeat {
    /// The namespace. Default: the server's.
    namespace: Option<String>,
    /// The membership.
    membership: MembershipId,
    /// The version of the working memory that the member has. Default: none; the answer has the whole working memory.
    version: Option<i64>,
}

/// Renew the lease of a member, and read what has changed.
#[utoipa::path(post, path = "/v1/groups/{name}/members/{robot}/heartbeat", tag = "members",
    params(("name" = String, Path), ("robot" = String, Path)), request_body = Heartbeat,
    responses((status = 200, body = GroupNews)))]
async fn heartbeat(
    app: App,
    Named(member): Named<(String, String)>,
    Body(body): Body<Heartbeat>,
) -> Result<Json<GroupNews>> {
    let membership = continued(&app, body.namespace.as_deref(), member, body.membership).await?;
    Ok(Json(membership.heartbeat(body.version).await?))
}

/// The membership that ends.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Leaving {
    /// The namespace. Default: the server's.
    namespace: Option<String>,
    /// The membership.
    membership: MembershipId,
}

/// A membership that has ended.
#[derive(Debug, Serialize, ToSchema)]
struct Left {
    /// The robot.
    robot: String,
}

/// Leave a group. A passive member takes over from the only active one.
#[utoipa::path(delete, path = "/v1/groups/{name}/members/{robot}", tag = "members",
    params(("name" = String, Path), ("robot" = String, Path), Leaving), responses((status = 200, body = Left)))]
async fn leave(
    app: App,
    Named((name, robot)): Named<(String, String)>,
    Asked(asked): Asked<Leaving>,
) -> Result<Json<Left>> {
    let member = (name, robot.clone());
    continued(&app, asked.namespace.as_deref(), member, asked.membership).await?.leave().await?;
    Ok(Json(Left { robot }))
}

/// Memories to add to a group's working memory.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct AddToGroup {
    /// The namespace. Default: the server's.
    namespace: Option<String>,
    /// The membership.
    membership: MembershipId,
    /// The ids of the memories. Of equally important ones, the last is evicted last.
    nodes: Vec<NodeId>,
}

/// The memories that left a working memory.
#[derive(Debug, Serialize, ToSchema)]
struct Evicted {
    /// Memories that no longer fit.
    evicted: Vec<NodeId>,
}

/// Add memories to a group's working memory, as an active member.
#[utoipa::path(post, path = "/v1/groups/{name}/members/{robot}/add", tag = "members",
    params(("name" = String, Path), ("robot" = String, Path)), request_body = AddToGroup,
    responses((status = 200, body = Evicted)))]
async fn add(
    app: App,
    Named(member): Named<(String, String)>,
    Body(body): Body<AddToGroup>,
) -> Result<Json<Evicted>> {
    let membership = continued(&app, body.namespace.as_deref(), member, body.membership).await?;
    Ok(Json(Evicted { evicted: membership.add(&body.nodes).await? }))
}

/// A memory to remove from a group's working memory.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct RemoveFromGroup {
    /// The namespace. Default: the server's.
    namespace: Option<String>,
    /// The membership.
    membership: MembershipId,
    /// The id of the memory.
    node: NodeId,
}

/// The number of removed memories.
#[derive(Debug, Serialize, ToSchema)]
struct RemovedFromGroup {
    /// Memories that left the working memory. Long-term memory is unchanged.
    removed: usize,
}

/// Remove a memory from a group's working memory, as an active member.
#[utoipa::path(post, path = "/v1/groups/{name}/members/{robot}/remove", tag = "members",
    params(("name" = String, Path), ("robot" = String, Path)), request_body = RemoveFromGroup,
    responses((status = 200, body = RemovedFromGroup)))]
async fn remove(
    app: App,
    Named(member): Named<(String, String)>,
    Body(body): Body<RemoveFromGroup>,
) -> Result<Json<RemovedFromGroup>> {
    let membership = continued(&app, body.namespace.as_deref(), member, body.membership).await?;
    Ok(Json(RemovedFromGroup { removed: membership.remove(body.node).await?.into() }))
}

/// The target of memories of a member's group.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct TransferByMember {
    /// The namespace. Default: the server's.
    namespace: Option<String>,
    /// The membership.
    membership: MembershipId,
    /// These memories. Default: all.
    nodes: Option<Vec<NodeId>>,
    /// To the working memory of this group,
    to_group: Option<String>,
    /// or to that of this robot.
    to_robot: Option<String>,
}

/// Transfer memories of the group's working memory to another group or to a robot, as an active member.
#[utoipa::path(post, path = "/v1/groups/{name}/members/{robot}/transfer", tag = "members",
    params(("name" = String, Path), ("robot" = String, Path)), request_body = TransferByMember,
    responses((status = 200, body = TransferReceipt)))]
async fn transfer(
    app: App,
    Named(member): Named<(String, String)>,
    Body(body): Body<TransferByMember>,
) -> Result<Json<TransferReceipt>> {
    let membership = continued(&app, body.namespace.as_deref(), member, body.membership).await?;
    let what = body.nodes.map_or(Transferred::All, Transferred::Nodes);
    Ok(Json(membership.transfer(&what, &target(body.to_group, body.to_robot)?).await?))
}

/// The context of a group.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct GroupContext {
    /// The namespace. Default: the server's.
    namespace: Option<String>,
    /// The membership.
    membership: MembershipId,
    /// The memories of the context. Default: the whole working memory.
    #[serde(default)]
    filter: FilterBody,
    /// The order: recent, important, frequent, balanced. Default: balanced.
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

/// Make the text for a prompt from a group's working memory.
#[utoipa::path(post, path = "/v1/groups/{name}/members/{robot}/context", tag = "members",
    params(("name" = String, Path), ("robot" = String, Path)), request_body = GroupContext,
    responses((status = 200, body = Context)))]
async fn context(
    app: App,
    Named(member): Named<(String, String)>,
    Body(body): Body<GroupContext>,
) -> Result<Json<Context>> {
    let membership = continued(&app, body.namespace.as_deref(), member, body.membership).await?;
    let options = options(body.order.as_deref(), body.max_tokens, body.separator, body.header)?;
    Ok(Json(membership.context_of(&body.filter.read(&app)?, &options).await?))
}
