//! `/v1/memories`: writing, reading, editing, forgetting, restoring.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::header::{ETAG, IF_NONE_MATCH, LOCATION};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use chrono::{DateTime, Utc};
use htm_core::{
    Caller, Confirmation, Edit, Edited, Expiry, FieldChange, ForgetPlan, Forgotten, ForgottenNode, Htm,
    Keepers, Memory, Neighbours, Node, NodeId, NodeStatus, Outcome, Place, Receipt, Restored, Revision,
    Stage,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::codes;
use crate::extract::{Asked, Body, IfMatch, Named, etag};
use crate::idempotency::Once;
use crate::limits::MAX_BATCH;
use crate::problem::{Details, Problem, Result};

/// The longest wait for the stages of a write.
const MAX_WAIT: Duration = Duration::from_secs(30);

/// The paths whose handlers keep the answer of a write with a key.
pub(crate) fn written_once() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(create)).routes(routes!(create_many))
}

pub(crate) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list))
        .routes(routes!(get, edit, forget))
        .routes(routes!(get_by_key))
        .routes(routes!(restore))
        .routes(routes!(history))
        .routes(routes!(status))
        .routes(routes!(neighbours))
        .routes(routes!(keepers))
        .routes(routes!(refresh))
        .routes(routes!(forget_matching))
        .routes(routes!(forgotten))
}

/// A memory to remember. Only the text is required.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewMemory {
    /// The text: 1 byte to 1 MiB, not only white space.
    pub(crate) content: String,
    /// Its namespace. Default: the server's.
    pub(crate) namespace: Option<String>,
    /// The robot that remembers. Default: the server's.
    pub(crate) robot: Option<String>,
    /// Its key, unique in its namespace.
    pub(crate) key: Option<String>,
    /// Its importance, 1 to 10: 1–3 for transient facts, 7–10 for decisions and preferences. Default: 1.
    pub(crate) importance: Option<f32>,
    /// Its source: a file, a chat, a URL.
    pub(crate) source: Option<String>,
    /// Its kind: `fact`, `decision`, `question`, …
    pub(crate) r#type: Option<String>,
    /// Its speaker.
    pub(crate) speaker: Option<String>,
    /// Its conversation.
    pub(crate) session: Option<String>,
    /// Its position in the conversation.
    pub(crate) seq: Option<i32>,
    /// Tags; the tag-worker adds its own.
    #[serde(default)]
    pub(crate) tags: Vec<String>,
    /// Its metadata: an object of at most 64 KiB, 64 levels deep.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub(crate) metadata: Map<String, Value>,
    /// When it happened. Default: now.
    pub(crate) created_at: Option<DateTime<Utc>>,
    /// When it expires. Default: never.
    pub(crate) expires_at: Option<DateTime<Utc>>,
    /// Instead of `expires_at`: the seconds from now to its expiry. A refresh starts them again.
    pub(crate) ttl_seconds: Option<u64>,
    /// The PostgreSQL text search configuration that stems it. Default: the server's.
    pub(crate) language: Option<String>,
}

/// The expiry of a request.
pub(crate) fn expiry(at: Option<DateTime<Utc>>, ttl: Option<u64>) -> Result<Option<Expiry>> {
    match (at, ttl) {
        (Some(_), Some(_)) => {
            Err(Problem::new(codes::BODY_INVALID, "both expires_at and ttl_seconds are given; give one"))
        }
        (at, ttl) => Ok(at.map(Expiry::At).or(ttl.map(|ttl| Expiry::After(Duration::from_secs(ttl))))),
    }
}

impl NewMemory {
    /// The memory, with tags in their stored form.
    pub(crate) fn read(self, app: &App) -> Result<Memory> {
        let plain = Memory::new(self.content);
        Ok(Memory {
            namespace: self.namespace,
            robot: self.robot,
            key: self.key,
            importance: self.importance.unwrap_or(plain.importance),
            source: self.source,
            kind: self.r#type,
            speaker: self.speaker,
            session: self.session,
            seq: self.seq,
            tags: app.tags(&self.tags)?,
            metadata: self.metadata,
            at: self.created_at,
            expires: expiry(self.expires_at, self.ttl_seconds)?,
            language: self.language,
            ..plain
        })
    }
}

/// What a write waits for after its commit.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum WaitFor {
    /// Its embeddings, so that vectors find it.
    Embed,
    /// Its tags.
    Tag,
    /// Both.
    All,
}

impl WaitFor {
    fn stages(self) -> &'static [Stage] {
        match self {
            Self::Embed => &[Stage::Embed],
            Self::Tag => &[Stage::Tag],
            Self::All => &[Stage::Embed, Stage::Tag],
        }
    }
}

/// Waiting for the stages of a write.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Waiting {
    /// Answer only when this is done, or when the time is over. The memory is committed in any case.
    wait: Option<WaitFor>,
    /// The time to wait in milliseconds, at most 30,000. Default: 10,000.
    wait_ms: Option<u64>,
}

/// The receipt of a write.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Written {
    #[serde(flatten)]
    receipt: Receipt,
    /// The state of its stages, if the request waited for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<NodeStatus>,
}

impl Waiting {
    /// Waits for the stages of nodes. A stage that fails or is late does not fail the write: its state says so.
    async fn wait(&self, htm: &Htm, node: NodeId) -> Result<Option<NodeStatus>> {
        let Some(wait) = self.wait else { return Ok(None) };
        let time = self.wait_ms.map_or(MAX_WAIT / 3, Duration::from_millis).min(MAX_WAIT);
        let until = tokio::time::Instant::now() + time;
        for stage in wait.stages() {
            let left = until.saturating_duration_since(tokio::time::Instant::now());
            match htm.wait_for(node, *stage, left).await {
                Ok(_) => {}
                Err(error) if matches!(error.code(), "wait_timeout" | "stage_dead") => break,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Some(htm.status(node).await?))
    }
}

fn location(node: NodeId) -> HeaderValue {
    HeaderValue::from_str(&format!("/v1/memories/{node}")).expect("a number is visible")
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
async fn list(State(app): State<App>, Asked(asked): Asked<PageQuery>) -> Result<Json<Page>> {
    let after = asked.cursor.as_deref().map(str::parse).transpose()?;
    let limit = asked.limit.unwrap_or(100);
    let memories = app.htm.page(asked.namespace.as_deref(), after, limit).await?;
    let last = memories.last().filter(|_| memories.len() == limit);
    let next = last.map(|node| Place::of(node).to_string());
    Ok(Json(Page { memories, next }))
}

/// Remember a memory.
///
/// It is committed when this answers, and full text finds it at once. 201: it is new. 200: it existed, by its key or
/// its content.
#[utoipa::path(post, path = "/v1/memories", tag = "memories", params(Waiting),
    responses((status = 201, body = Written), (status = 200, body = Written)))]
async fn create(
    State(app): State<App>,
    Asked(waiting): Asked<Waiting>,
    Once(operation): Once,
    Body(memory): Body<NewMemory>,
) -> Result<Response> {
    let memory = memory.read(&app)?;
    let (receipt, is_replayed) = match &operation {
        None => (app.htm.remember(memory).await?, false),
        Some(operation) => {
            let mut first = None;
            let describe = |mut results: Vec<htm_core::Result<Receipt>>| {
                let result = results.remove(0);
                let answer = result.as_ref().map_or(Value::Null, |receipt| json!(receipt));
                first = Some(result);
                answer
            };
            let answer = app.htm.remember_once(operation, &[memory], describe).await?;
            match first {
                Some(result) => (result?, false),
                None => (kept(answer)?, true),
            }
        }
    };
    let status = waiting.wait(&app.htm, receipt.node).await?;
    let code = if receipt.outcome == Outcome::Written { StatusCode::CREATED } else { StatusCode::OK };
    let written = Json(Written { receipt, status });
    let mut response = (code, [(LOCATION, location(receipt.node))], written).into_response();
    if is_replayed {
        crate::idempotency::mark(&mut response);
    }
    Ok(response)
}

/// The receipt that an earlier request got.
fn kept(answer: Value) -> Result<Receipt> {
    serde_json::from_value(answer).map_err(|error| {
        Problem::new(codes::INTERNAL_ERROR, format!("a kept answer cannot be read: {error}"))
    })
}

/// Many memories.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewMemories {
    /// The memories, at most 1,000.
    memories: Vec<NewMemory>,
}

/// The results of many writes.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ManyWritten {
    /// A result for each memory, in their order: a receipt or a problem.
    #[schema(value_type = Vec<ItemWritten>)]
    pub(crate) results: Value,
}

/// The result of one of many writes.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum ItemWritten {
    /// It is committed.
    Receipt(Receipt),
    /// It was not written.
    Problem(Details),
}

/// Describes results, in their order.
pub(crate) fn describe(results: Vec<htm_core::Result<Receipt>>) -> Value {
    let each = results.into_iter().map(|result| match result {
        Ok(receipt) => ItemWritten::Receipt(receipt),
        Err(error) => ItemWritten::Problem(Problem::from(error).details()),
    });
    json!(each.collect::<Vec<_>>())
}

/// Remembers many memories, once if there is an operation.
pub(crate) async fn remember_all(
    app: &App,
    operation: Option<htm_core::Operation>,
    memories: Vec<Memory>,
) -> Result<Response> {
    let mut is_replayed = operation.is_some();
    let results = match &operation {
        None => describe(app.htm.remember_many(&memories).await?),
        Some(operation) => {
            let describe = |results| {
                is_replayed = false;
                describe(results)
            };
            app.htm.remember_once(operation, &memories, describe).await?
        }
    };
    let mut response = Json(ManyWritten { results }).into_response();
    if is_replayed {
        crate::idempotency::mark(&mut response);
    }
    Ok(response)
}

/// The error of too many items.
pub(crate) fn check_batch(count: usize) -> Result<()> {
    match count > MAX_BATCH {
        true => {
            let problem = format!("{count} items are more than the {MAX_BATCH} of one request");
            Err(Problem::new(codes::BATCH_TOO_LARGE, problem))
        }
        false => Ok(()),
    }
}

/// Remember many memories in one transaction.
///
/// A memory that is refused does not hold back the others.
#[utoipa::path(post, path = "/v1/memories/batch", tag = "memories", request_body = NewMemories,
    responses((status = 200, body = ManyWritten)))]
async fn create_many(
    State(app): State<App>,
    Once(operation): Once,
    Body(body): Body<NewMemories>,
) -> Result<Response> {
    check_batch(body.memories.len())?;
    let memories = body.memories.into_iter().map(|memory| memory.read(&app));
    let memories = memories.collect::<Result<Vec<Memory>>>()?;
    remember_all(&app, operation, memories).await
}

fn shown(node: Node, headers: &HeaderMap) -> Response {
    let tag = etag(node.revision);
    let is_known = |value: &HeaderValue| {
        value.as_bytes().split(|it| *it == b',').any(|it| it.trim_ascii() == tag.as_bytes())
    };
    if headers.get(IF_NONE_MATCH).is_some_and(is_known) {
        return (StatusCode::NOT_MODIFIED, [(ETAG, tag)]).into_response();
    }
    ([(ETAG, tag)], Json(node)).into_response()
}

/// Read a memory.
///
/// The ETag is the revision of its text; other changes do not make a new one.
#[utoipa::path(get, path = "/v1/memories/{id}", tag = "memories", params(("id" = i64, Path)),
    responses((status = 200, body = Node), (status = 304)))]
async fn get(State(app): State<App>, Named(id): Named<NodeId>, headers: HeaderMap) -> Result<Response> {
    Ok(shown(app.htm.get(id).await?, &headers))
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
    params(("key" = String, Path), InNamespace), responses((status = 200, body = Node), (status = 304)))]
async fn get_by_key(
    State(app): State<App>,
    Named(key): Named<String>,
    Asked(place): Asked<InNamespace>,
    headers: HeaderMap,
) -> Result<Response> {
    let namespace = app.namespace(place.namespace.as_deref());
    let found = app.htm.get_by_key(Some(namespace), &key).await?;
    let missing = || {
        Problem::from(htm_core::Error::new(
            htm_core::error::codes::NODE_NOT_FOUND,
            format!("namespace `{namespace}` has no memory with key `{key}`"),
        ))
    };
    Ok(shown(found.ok_or_else(missing)?, &headers))
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
fn change<'de, D, T>(deserializer: D) -> std::result::Result<FieldChange<T>, D::Error>
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

/// Edit a memory.
///
/// With `If-Match`, it fails if the text has another revision by now (412).
#[utoipa::path(patch, path = "/v1/memories/{id}", tag = "memories",
    params(("id" = i64, Path), ("If-Match" = Option<String>, Header, description = "The ETag that was read")),
    responses((status = 200, body = Edited)))]
async fn edit(
    State(app): State<App>,
    Named(id): Named<NodeId>,
    IfMatch(revision): IfMatch,
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
    let edited = app.htm.edit(id, &edit).await;
    let edited = match revision {
        Some(_) => edited.map_err(|error| Problem::from(error).of_precondition())?,
        None => edited?,
    };
    Ok(([(ETAG, etag(edited.revision))], Json(edited)).into_response())
}

/// Who forgets, and whether it is confirmed.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Forgetting {
    /// The namespace of the robot that forgets. Default: the server's.
    namespace: Option<String>,
    /// The robot that forgets: it may forget what it remembered. Default: the server's.
    robot: Option<String>,
    /// Whether a memory of any robot may be forgotten.
    #[serde(default)]
    any_robot: bool,
    /// The act is refused without it.
    #[serde(default)]
    confirm: bool,
}

fn confirmation(confirm: bool) -> Confirmation {
    if confirm { Confirmation::Confirmed } else { Confirmation::Missing }
}

/// Forget a memory.
///
/// Nothing finds it then; it can be restored until it is purged. With `If-Match`, it fails if the text has another
/// revision by now (412).
#[utoipa::path(delete, path = "/v1/memories/{id}", tag = "memories",
    params(("id" = i64, Path), Forgetting,
        ("If-Match" = Option<String>, Header, description = "The ETag that was read")),
    responses((status = 200, body = Forgotten)))]
async fn forget(
    State(app): State<App>,
    Named(id): Named<NodeId>,
    IfMatch(revision): IfMatch,
    Asked(asked): Asked<Forgetting>,
) -> Result<Json<Forgotten>> {
    let caller = caller(&app, asked.namespace, asked.robot, asked.any_robot);
    let confirmation = confirmation(asked.confirm);
    let Some(revision) = revision else { return Ok(Json(app.htm.forget(id, &caller, confirmation).await?)) };
    // The plan has the revision, and what was edited since is left.
    let plan = app.htm.plan_forget_node(id, &caller).await?;
    let current = plan.matches.first().map_or(0, |found| found.revision);
    let conflict = || {
        let problem = format!("memory {id} has revision {current}, not {revision}");
        let error =
            htm_core::Error::new(htm_core::error::codes::REVISION_CONFLICT, problem).with_value("node", id);
        Problem::from(error).of_precondition()
    };
    if current != revision {
        return Err(conflict());
    }
    let forgotten = app.htm.forget_planned(&plan, &caller, confirmation).await?;
    if forgotten.forgotten.is_empty() { Err(conflict()) } else { Ok(Json(forgotten)) }
}

/// The memories to forget: those that match a text.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ForgetMatching {
    /// The words that they contain.
    text: String,
    /// The namespace. Default: the server's.
    namespace: Option<String>,
    /// The robot that forgets: it may forget what it remembered. Default: the server's.
    robot: Option<String>,
    /// Whether memories of any robot may be forgotten.
    #[serde(default)]
    any_robot: bool,
    /// Answers with the plan, and forgets nothing.
    #[serde(default)]
    dry_run: bool,
    /// The act is refused without it.
    #[serde(default)]
    confirm: bool,
}

/// The plan, and what was forgotten.
#[derive(Debug, Serialize, ToSchema)]
struct MatchingForgotten {
    /// What matches.
    plan: ForgetPlan,
    /// What was forgotten. Null for a dry run.
    forgotten: Option<Forgotten>,
}

/// Forget the memories that match a text.
#[utoipa::path(post, path = "/v1/memories/forget", tag = "memories", request_body = ForgetMatching,
    responses((status = 200, body = MatchingForgotten)))]
async fn forget_matching(
    State(app): State<App>,
    Body(body): Body<ForgetMatching>,
) -> Result<Json<MatchingForgotten>> {
    let namespace = app.namespace(body.namespace.as_deref()).to_owned();
    let caller = caller(&app, body.namespace, body.robot, body.any_robot);
    let plan = app.htm.plan_forget(&body.text, Some(&namespace), &caller).await?;
    let forgotten = match body.dry_run {
        true => None,
        false => Some(app.htm.forget_planned(&plan, &caller, confirmation(body.confirm)).await?),
    };
    Ok(Json(MatchingForgotten { plan, forgotten }))
}

/// The forgotten memories of a namespace.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ForgottenQuery {
    /// The namespace. Default: the server's.
    namespace: Option<String>,
    /// The most memories, 1 to 10,000. Default: 20.
    limit: Option<usize>,
}

/// List forgotten memories, the latest first.
#[utoipa::path(get, path = "/v1/memories/forgotten", tag = "memories", params(ForgottenQuery),
    responses((status = 200, body = Vec<ForgottenNode>)))]
async fn forgotten(
    State(app): State<App>,
    Asked(asked): Asked<ForgottenQuery>,
) -> Result<Json<Vec<ForgottenNode>>> {
    let namespace = app.namespace(asked.namespace.as_deref());
    Ok(Json(app.htm.forgotten(Some(namespace), asked.limit.unwrap_or(20)).await?))
}

/// Who restores.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
struct Restoring {
    /// The namespace of the robot that restores. Default: the server's.
    namespace: Option<String>,
    /// The robot that restores: it may restore what it remembered. Default: the server's.
    robot: Option<String>,
    /// Whether a memory of any robot may be restored.
    any_robot: bool,
}

/// Restore a forgotten memory.
#[utoipa::path(post, path = "/v1/memories/{id}/restore", tag = "memories", params(("id" = i64, Path)),
    request_body = Restoring, responses((status = 200, body = Restored)))]
async fn restore(
    State(app): State<App>,
    Named(id): Named<NodeId>,
    Body(body): Body<Restoring>,
) -> Result<Json<Restored>> {
    let caller = caller(&app, body.namespace, body.robot, body.any_robot);
    Ok(Json(app.htm.restore(id, &caller).await?))
}

/// Start a memory's time to live again.
#[utoipa::path(post, path = "/v1/memories/{id}/refresh", tag = "memories", params(("id" = i64, Path)),
    responses((status = 200, body = Refreshed)))]
async fn refresh(State(app): State<App>, Named(id): Named<NodeId>) -> Result<Json<Refreshed>> {
    Ok(Json(Refreshed { refreshed: app.htm.refresh(&[id]).await? }))
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
async fn history(State(app): State<App>, Named(id): Named<NodeId>) -> Result<Json<Vec<Revision>>> {
    Ok(Json(app.htm.revisions(id).await?))
}

/// Read the state of a memory's embedding and tagging.
#[utoipa::path(get, path = "/v1/memories/{id}/status", tag = "memories", params(("id" = i64, Path)),
    responses((status = 200, body = NodeStatus)))]
async fn status(State(app): State<App>, Named(id): Named<NodeId>) -> Result<Json<NodeStatus>> {
    Ok(Json(app.htm.status(id).await?))
}

/// List who keeps a memory: robots that remembered it, and groups that have it in their working memory.
#[utoipa::path(get, path = "/v1/memories/{id}/keepers", tag = "memories", params(("id" = i64, Path)),
    responses((status = 200, body = Keepers)))]
async fn keepers(State(app): State<App>, Named(id): Named<NodeId>) -> Result<Json<Keepers>> {
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
    State(app): State<App>,
    Named(id): Named<NodeId>,
    Asked(asked): Asked<NeighboursQuery>,
) -> Result<Json<Neighbours>> {
    let (before, after) = (asked.before.unwrap_or(3), asked.after.unwrap_or(3));
    Ok(Json(app.htm.neighbours(id, before, after).await?))
}
