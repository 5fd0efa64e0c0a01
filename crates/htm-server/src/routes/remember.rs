//! `POST /v1/memories` and `/v1/memories/batch`: remembering.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::Json;
use axum::http::header::LOCATION;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use chrono::{DateTime, Utc};
use htm_core::{Conversation, Expiry, Memory, NodeId, NodeStatus, Outcome, Receipt, Replacement};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::{App, Shared};
use crate::codes;
use crate::extract::Body;
use crate::idempotency::Once;
use crate::limits::MAX_BATCH;
use crate::problem::{Details, Problem, Result};
use crate::routes::memories::caller;
use crate::wait::{Wait, Waiting};

/// The paths whose handlers keep the answer of a write with a key.
pub(crate) fn written_once() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(create)).routes(routes!(create_many))
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
    /// Its vectors, by the labels of models whose vectors callers bring.
    #[serde(default)]
    pub(crate) vectors: BTreeMap<String, Vec<f32>>,
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
            vectors: self.vectors,
            ..plain
        })
    }
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

fn location(node: NodeId) -> HeaderValue {
    HeaderValue::from_str(&format!("/v1/memories/{node}")).expect("a number is visible")
}

/// Remember a memory.
///
/// It is committed when this answers, and full text finds it at once. 201: it is new. 200: it existed, by its key or
/// its content.
#[utoipa::path(post, path = "/v1/memories", tag = "memories", params(Waiting), request_body = NewMemory,
    responses((status = 201, body = Written), (status = 200, body = Written)))]
async fn create(
    app: App,
    waiting: Wait,
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
    let status = waiting.wait(&app.htm, &[receipt.node]).await.pop().flatten();
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
    /// The conversations that the memories take the place of, at most 1,000: what these have is forgotten in the same
    /// transaction. All is done then, or nothing. A memory without `created_at` gets that of its conversation's first one.
    #[serde(default)]
    replaces: Vec<Replaced>,
    /// The robot that replaces what it remembered. Default: the server's.
    robot: Option<String>,
    /// Whether memories of any robot may be replaced.
    #[serde(default)]
    any_robot: bool,
}

/// A conversation to replace.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Replaced {
    /// Its namespace. Default: the server's.
    namespace: Option<String>,
    /// The conversation.
    session: String,
    /// The memories that it has to have, in any order: with others it is 409 `revision_conflict`, and nothing is done.
    /// None are expected of a new one. Default: any.
    expected: Option<Vec<NodeId>>,
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
    Written(Written),
    /// It was not written.
    Problem(Details),
}

/// Describes results, in their order.
fn describe(results: Vec<Result<Receipt>>) -> Value {
    let each = results.into_iter().map(|result| match result {
        Ok(receipt) => ItemWritten::Written(Written { receipt, status: None }),
        Err(problem) => ItemWritten::Problem(problem.details()),
    });
    json!(each.collect::<Vec<_>>())
}

/// Remembers many memories, once if there is an operation. An unreadable one keeps its place among the results.
async fn remember_all(
    app: &App,
    waiting: Wait,
    operation: Option<htm_core::Operation>,
    memories: impl Iterator<Item = Result<Memory>>,
) -> Result<Response> {
    let mut readable = Vec::new();
    let refused: Vec<Option<Problem>> =
        memories.map(|memory| memory.map(|memory| readable.push(memory)).err()).collect();
    let describe = |results: Vec<htm_core::Result<Receipt>>| {
        let mut results = results.into_iter();
        let in_place = refused.into_iter().filter_map(|problem| match problem {
            Some(problem) => Some(Err(problem)),
            None => results.next().map(|result| result.map_err(Problem::from)),
        });
        describe(in_place.collect())
    };
    let mut is_replayed = operation.is_some();
    let mut results = match &operation {
        None => describe(app.htm.remember_many(&readable).await?),
        Some(operation) => {
            let describe = |results| {
                is_replayed = false;
                describe(results)
            };
            app.htm.remember_once(operation, &readable, describe).await?
        }
    };
    waiting.wait_for_all(&app.htm, &mut results).await;
    Ok(answer(&ManyWritten { results }, is_replayed))
}

/// Remembers memories in the place of conversations, completely or not at all, and once if there is an operation. Returns the
/// described receipts, and whether an earlier request got them. The problem of one of them names its place in the `list` of
/// the body.
pub(crate) async fn replace_all(
    app: &App,
    operation: Option<htm_core::Operation>,
    replacement: &Replacement,
    (list, memories): (&str, &[Memory]),
    describe: impl FnOnce(Value) -> Value,
) -> Result<(Value, bool)> {
    let in_place = |error: htm_core::Error| {
        let place = error.value("place").and_then(|place| place.parse().ok());
        let problem = Problem::from(error);
        match place {
            Some(place) => problem.of_entry(list, place),
            None => problem,
        }
    };
    let describe = |receipts: Vec<Receipt>| describe(self::describe(receipts.into_iter().map(Ok).collect()));
    let Some(operation) = operation else {
        return Ok((describe(app.htm.replace(replacement, memories).await.map_err(in_place)?), false));
    };
    let mut is_replayed = true;
    let describe = |receipts| {
        is_replayed = false;
        describe(receipts)
    };
    let answer = app.htm.replace_once(&operation, replacement, memories, describe).await;
    Ok((answer.map_err(in_place)?, is_replayed))
}

/// The answer to a write with an operation.
pub(crate) fn answer(body: &impl Serialize, is_replayed: bool) -> Response {
    let mut response = Json(body).into_response();
    if is_replayed {
        crate::idempotency::mark(&mut response);
    }
    response
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
/// The answer is 200 with a receipt or a problem for each: a memory that is refused does not hold back the others. If they
/// replace conversations, all are written or none, and the answer is the problem.
#[utoipa::path(post, path = "/v1/memories/batch", tag = "memories", params(Waiting), request_body = NewMemories,
    responses((status = 200, body = ManyWritten)))]
async fn create_many(
    app: App,
    waiting: Wait,
    Once(operation): Once,
    Body(body): Body<NewMemories>,
) -> Result<Response> {
    check_batch(body.memories.len())?;
    let memories = body.memories.into_iter().map(|memory| memory.read(&app));
    if body.replaces.is_empty() {
        return remember_all(&app, waiting, operation, memories).await;
    }
    let in_place = |(place, memory): (usize, Result<Memory>)| {
        memory.map_err(|problem| problem.of_entry("memories", place))
    };
    let memories = memories.enumerate().map(in_place).collect::<Result<Vec<Memory>>>()?;
    check_batch(body.replaces.len())?;
    let namespace = body.replaces[0].namespace.clone();
    let replacement = Replacement {
        caller: caller(&app, namespace, body.robot, body.any_robot),
        conversations: body
            .replaces
            .into_iter()
            .map(|it| Conversation { namespace: it.namespace, session: it.session, expected: it.expected })
            .collect(),
        ..Replacement::default()
    };
    let (mut results, is_replayed) =
        replace_all(&app, operation, &replacement, ("memories", &memories[..]), |results| results).await?;
    waiting.wait_for_all(&app.htm, &mut results).await;
    Ok(answer(&ManyWritten { results }, is_replayed))
}
