//! `/v1/memories`: listing, reading and editing.

use std::time::Duration;

use axum::Json;
use axum::http::StatusCode;
use axum::http::header::ETAG;
use axum::response::{IntoResponse, Response};
use chrono::{DateTime, Utc};
use htm_core::{
    Caller, Edit, Edited, Expiry, FieldChange, Keepers, Neighbours, Node, NodeId, NodeStatus, Revision,
    TagAssignment, TimeCursor,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::{App, Shared};
use crate::codes;
use crate::extract::{Asked, Body, IfMatch, Named, etag, next};
use crate::idempotency::{Once, answer};
use crate::problem::{Problem, Result, of_request};
use crate::wait::{Wait, Waiting};

pub(crate) fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(list))
        .routes(routes!(get, edit))
        .routes(routes!(get_by_key))
        .routes(routes!(history))
        .routes(routes!(status))
        .routes(routes!(neighbours))
        .routes(routes!(tags))
        .routes(routes!(keepers))
        .routes(routes!(refresh))
}

/// A page of memories.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct PageQuery {
    /// The namespace. Default: the server's.
    namespace: Option<String>,
    /// `next` of the previous page.
    cursor: Option<String>,
    /// The most memories, 1 to 10,000. Default: 100.
    limit: Option<usize>,
}

/// A page of memories, the earliest first.
#[derive(Debug, Serialize, ToSchema)]
struct Page {
    memories: Vec<Node>,
    /// The cursor of the next page; null: this is the last.
    next: Option<String>,
}

/// List the memories of a namespace in the order of their time.
#[utoipa::path(get, path = "/v1/memories", tag = "memories", params(PageQuery),
    responses((status = 200, body = Page)))]
async fn list(app: App, Asked(asked): Asked<PageQuery>) -> Result<Json<Page>> {
    let after = asked.cursor.as_deref().map(str::parse).transpose()?;
    let limit = asked.limit.unwrap_or(100);
    let memories = app.htm.page(asked.namespace.as_deref(), after, limit).await?;
    let next = next(&memories, limit, |node| TimeCursor::of(node).to_string());
    Ok(Json(Page { memories, next }))
}

/// Never 304: the revision of the text does not tell whether tags, metadata or other fields have changed.
fn shown(node: Node) -> Response {
    ([(ETAG, etag(node.revision))], Json(node)).into_response()
}

/// Read a memory.
///
/// The ETag is the revision of its text, for `If-Match`. Other changes do not make a new one, so that `If-None-Match` has no
/// effect.
///
/// With `as_of`, it is as it stood at that time, with the text that it had.
#[utoipa::path(get, path = "/v1/memories/{id}", tag = "memories", params(("id" = i64, Path), AsOfQuery),
    responses((status = 200, body = Node)))]
async fn get(app: App, Named(id): Named<NodeId>, Asked(asked): Asked<AsOfQuery>) -> Result<Response> {
    let node = match app.as_of(asked.as_of.as_deref())? {
        Some(at) => app.htm.get_as_of(id, at).await?,
        None => app.htm.get(id).await?,
    };
    Ok(shown(node))
}

/// The time of a request.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct AsOfQuery {
    /// The time as of which the memory is read: a date, an RFC 3339 time, or words. Default: now.
    as_of: Option<String>,
}

/// The namespace of a request.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct InNamespace {
    /// The namespace. Default: the server's.
    pub(crate) namespace: Option<String>,
}

/// Read a memory by its key.
#[utoipa::path(get, path = "/v1/memories/by-key/{key}", tag = "memories",
    params(("key" = String, Path), InNamespace), responses((status = 200, body = Node)))]
async fn get_by_key(
    app: App,
    Named(key): Named<String>,
    Asked(place): Asked<InNamespace>,
) -> Result<Response> {
    let namespace = app.namespace(place.namespace.as_deref());
    let found = app.htm.get_by_key(Some(namespace), &key).await?;
    let missing = || {
        Problem::from(htm_core::Error::new(
            htm_core::error::codes::NODE_NOT_FOUND,
            format!("namespace `{namespace}` has no memory with key `{key}`"),
        ))
    };
    Ok(shown(found.ok_or_else(missing)?))
}

/// Changes of a memory. Fields that are not given stay.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct MemoryEdit {
    /// The new text.
    content: Option<String>,
    /// 1 to 10.
    importance: Option<f32>,
    /// Its key; null removes it.
    #[serde(default, deserialize_with = "change")]
    #[schema(value_type = Option<String>)]
    key: FieldChange<String>,
    /// Its source; null removes it.
    #[serde(default, deserialize_with = "change")]
    #[schema(value_type = Option<String>)]
    source: FieldChange<String>,
    /// Its kind; null removes it.
    #[serde(default, deserialize_with = "change")]
    #[schema(value_type = Option<String>)]
    r#type: FieldChange<String>,
    /// Entries to set; null removes one.
    #[serde(default)]
    #[schema(value_type = Object)]
    metadata: Map<String, Value>,
    /// Tags to add.
    #[serde(default)]
    add_tags: Vec<String>,
    /// Tags to remove.
    #[serde(default)]
    remove_tags: Vec<String>,
    /// When it expires; null: never.
    #[serde(default, deserialize_with = "change")]
    #[schema(value_type = Option<DateTime<Utc>>)]
    expires_at: FieldChange<DateTime<Utc>>,
    /// Instead of `expires_at`: the seconds from now to its expiry.
    ttl_seconds: Option<u64>,
    /// The namespace of the robot that edits. Default: the server's.
    namespace: Option<String>,
    /// The robot that edits: it may change what it remembered. Default: the server's.
    robot: Option<String>,
    /// Whether a memory of any robot may be changed.
    #[serde(default)]
    any_robot: bool,
}

/// Tells null, which removes a field, from a field that is not given.
pub(crate) fn change<'de, D, T>(deserializer: D) -> std::result::Result<FieldChange<T>, D::Error>
where
    D: serde::Deserializer<'de>,
    T: Deserialize<'de>,
{
    Ok(Option::<T>::deserialize(deserializer)?.map_or(FieldChange::Clear, FieldChange::Set))
}

/// The caller of a change.
pub(crate) fn caller(app: &App, namespace: Option<String>, robot: Option<String>, any_robot: bool) -> Caller {
    match (any_robot, namespace) {
        (true, _) => Caller::AnyRobot,
        (false, namespace) => Caller::In { namespace: app.namespace(namespace.as_deref()).to_owned(), robot },
    }
}

/// The answer to an edit.
#[derive(Debug, Serialize, ToSchema)]
struct EditedNow {
    #[serde(flatten)]
    edited: Edited,
    /// The state of its stages, if the request waited for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<NodeStatus>,
}

fn answer_of_edit(edited: &Edited) -> Value {
    let revision = etag(edited.revision);
    answer(StatusCode::OK, &[("etag", revision.to_str().unwrap_or_default())], edited)
}

/// Edit a memory.
///
/// With `If-Match`, it fails if the text has another revision by now (412).
#[utoipa::path(patch, path = "/v1/memories/{id}", tag = "memories",
    request_body = MemoryEdit, params(("id" = i64, Path), Waiting, ("If-Match" = Option<String>, Header, description = "The ETag that was read")),
    responses((status = 200, body = EditedNow)))]
async fn edit(
    app: App,
    Named(id): Named<NodeId>,
    waiting: Wait,
    IfMatch(revision): IfMatch,
    once: Once,
    Body(body): Body<MemoryEdit>,
) -> Result<Response> {
    let expires = match (body.expires_at, body.ttl_seconds) {
        (FieldChange::Keep, Some(ttl)) => FieldChange::Set(Expiry::After(Duration::from_secs(ttl))),
        (FieldChange::Keep, None) => FieldChange::Keep,
        (FieldChange::Clear, None) => FieldChange::Clear,
        (FieldChange::Set(at), None) => FieldChange::Set(Expiry::At(at)),
        (_, Some(_)) => {
            return Err(Problem::new(
                codes::BODY_INVALID,
                "both expires_at and ttl_seconds are given; give one",
            ));
        }
    };
    let edit = Edit {
        content: body.content,
        importance: body.importance,
        key: body.key,
        source: body.source,
        kind: body.r#type,
        metadata: body.metadata,
        add_tags: app.tags(&body.add_tags)?,
        remove_tags: app.tags(&body.remove_tags)?,
        expires,
        expected_revision: revision,
        caller: caller(&app, body.namespace, body.robot, body.any_robot),
    };
    let edited = app.htm.edit_once(id, &edit, once.keeps(answer_of_edit)).await;
    let edited = of_request(edited, revision)?;
    let status = waiting.wait(&app.htm, &[id]).await.pop().flatten();
    Ok(([(ETAG, etag(edited.revision))], Json(EditedNow { edited, status })).into_response())
}

/// Start a memory's time to live again.
#[utoipa::path(post, path = "/v1/memories/{id}/refresh", tag = "memories", params(("id" = i64, Path)),
    responses((status = 200, body = Refreshed)))]
async fn refresh(app: App, Named(id): Named<NodeId>) -> Result<Json<Refreshed>> {
    Ok(Json(Refreshed { refreshed: app.htm.refresh_one(id).await?.into() }))
}

/// The number of memories whose time to live was started again.
#[derive(Debug, Serialize, ToSchema)]
struct Refreshed {
    /// 0 for a memory without a time to live.
    refreshed: u64,
}

/// List the texts that a memory has had, the oldest first.
#[utoipa::path(get, path = "/v1/memories/{id}/history", tag = "memories", params(("id" = i64, Path)),
    responses((status = 200, body = Vec<Revision>)))]
async fn history(app: App, Named(id): Named<NodeId>) -> Result<Json<Vec<Revision>>> {
    Ok(Json(app.htm.revisions(id).await?))
}

/// Read the state of a memory's embedding and tagging.
#[utoipa::path(get, path = "/v1/memories/{id}/status", tag = "memories", params(("id" = i64, Path)),
    responses((status = 200, body = NodeStatus)))]
async fn status(app: App, Named(id): Named<NodeId>) -> Result<Json<NodeStatus>> {
    Ok(Json(app.htm.status(id).await?))
}

/// List the tags of a memory, each with who set it and how sure that was.
#[utoipa::path(get, path = "/v1/memories/{id}/tags", tag = "memories", params(("id" = i64, Path)),
    responses((status = 200, body = Vec<TagAssignment>)))]
async fn tags(app: App, Named(id): Named<NodeId>) -> Result<Json<Vec<TagAssignment>>> {
    Ok(Json(app.htm.tags_of(id).await?))
}

/// List who keeps a memory: robots that remembered it, and groups that have it in their working memory.
#[utoipa::path(get, path = "/v1/memories/{id}/keepers", tag = "memories", params(("id" = i64, Path)),
    responses((status = 200, body = Keepers)))]
async fn keepers(app: App, Named(id): Named<NodeId>) -> Result<Json<Keepers>> {
    Ok(Json(app.htm.keepers(id).await?))
}

/// The number of neighbours.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct NeighboursQuery {
    /// The most memories before it, 0 to 1,000. Default: 3.
    before: Option<usize>,
    /// The most memories after it, 0 to 1,000. Default: 3.
    after: Option<usize>,
}

/// List what was said before and after a memory.
#[utoipa::path(get, path = "/v1/memories/{id}/neighbours", tag = "memories",
    params(("id" = i64, Path), NeighboursQuery), responses((status = 200, body = Neighbours)))]
async fn neighbours(
    app: App,
    Named(id): Named<NodeId>,
    Asked(asked): Asked<NeighboursQuery>,
) -> Result<Json<Neighbours>> {
    let (before, after) = (asked.before.unwrap_or(3), asked.after.unwrap_or(3));
    Ok(Json(app.htm.neighbours(id, before, after).await?))
}
