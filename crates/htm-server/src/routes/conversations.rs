//! `/v1/conversations`: the messages of a conversation, remembered in one call.

use axum::response::Response;
use chrono::{DateTime, Utc};
use htm_core::{Memory, Replacement};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use ulid::Ulid;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::{App, Shared};
use crate::codes;
use crate::extract::Body;
use crate::idempotency::Once;
use crate::problem::{Problem, Result};
use crate::routes::memories::caller;
use crate::routes::remember::{Written, answer, check_batch, expiry, replace_all};
use crate::wait::{Wait, Waiting};

/// The most bytes of the metadata of all messages together.
const MAX_METADATA_TOTAL: usize = 1 << 20;

/// The paths whose handlers keep the answer of a write with a key.
pub(crate) fn written_once() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(create))
}

/// A conversation: messages in their order.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Conversation {
    /// The messages, at most 1,000.
    messages: Vec<Message>,
    /// The conversation's name. Default: a new one.
    session: Option<String>,
    /// The position of the first message. Default: the one after the conversation's last message, or 0.
    first_seq: Option<i32>,
    /// The namespace. Default: the server's.
    namespace: Option<String>,
    /// The robot that remembers. Default: the server's.
    robot: Option<String>,
    /// Its source: a file, a chat, a URL.
    source: Option<String>,
    /// Tags of every message.
    #[serde(default)]
    tags: Vec<String>,
    /// Metadata of every message: at most 1 MiB for all messages together.
    #[serde(default)]
    #[schema(value_type = Object)]
    metadata: Map<String, Value>,
    /// When the memories expire. Default: never.
    expires_at: Option<DateTime<Utc>>,
    /// Instead of `expires_at`: the seconds from now to their expiry.
    ttl_seconds: Option<u64>,
}

/// A message.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Message {
    /// The role of the speaker: `user`, `assistant`, … It is the speaker of a message without a name, otherwise `role` of the
    /// metadata.
    role: String,
    /// The speaker's name, if it says more than the role.
    name: Option<String>,
    /// The text.
    content: String,
    /// When it was said. Default: now.
    created_at: Option<DateTime<Utc>>,
}

/// A remembered conversation.
#[derive(Debug, Serialize, ToSchema)]
struct ConversationWritten {
    /// Its name: the given one, or a new one.
    session: String,
    /// A receipt for each message, in their order.
    #[schema(value_type = Vec<Written>)]
    results: Value,
}

/// Refuses metadata that is too large to be repeated for each message.
fn check_metadata(body: &Conversation) -> Result<()> {
    let bytes = serde_json::to_vec(&body.metadata).map_or(0, |it| it.len());
    let (messages, total) = (body.messages.len(), bytes * body.messages.len());
    match total > MAX_METADATA_TOTAL {
        true => {
            let problem = format!(
                "{messages} messages with {bytes} bytes of metadata each are {total} bytes, more than \
                 {MAX_METADATA_TOTAL}"
            );
            Err(Problem::new(codes::BATCH_TOO_LARGE, problem))
        }
        false => Ok(()),
    }
}

/// Remember a conversation.
///
/// Each message is a memory with the conversation, its position and its speaker. They are written in one transaction, all or
/// none: if one cannot be written, the answer is its problem. Without `first_seq` they continue the conversation, and their
/// receipts have the positions; concurrent calls run one after the other.
#[utoipa::path(post, path = "/v1/conversations", tag = "conversations", params(Waiting),
    request_body = Conversation,
    responses((status = 200, body = ConversationWritten)))]
async fn create(
    app: App,
    waiting: Wait,
    Once(operation): Once,
    Body(body): Body<Conversation>,
) -> Result<Response> {
    check_batch(body.messages.len())?;
    check_metadata(&body)?;
    if body.session.as_ref().is_some_and(|session| session.trim().is_empty()) {
        let problem = "session is empty; a conversation without one gets a new one";
        return Err(Problem::new(codes::BODY_INVALID, problem));
    }
    let session = body.session.unwrap_or_else(|| Ulid::new().to_string());
    let tags = app.tags(&body.tags)?;
    let expires = expiry(body.expires_at, body.ttl_seconds)?;
    let mut memories = Vec::new();
    for (message, place) in body.messages.into_iter().zip(0..) {
        let (mut metadata, role) = (body.metadata.clone(), message.role);
        let speaker = match message.name {
            Some(name) => {
                metadata.entry("role").or_insert(Value::String(role));
                name
            }
            None => role,
        };
        let memory = Memory {
            namespace: body.namespace.clone(),
            robot: body.robot.clone(),
            source: body.source.clone(),
            speaker: Some(speaker),
            session: Some(session.clone()),
            seq: body.first_seq.map(|first| first.saturating_add(place)),
            tags: tags.clone(),
            metadata,
            at: message.created_at,
            expires,
            ..Memory::new(message.content)
        };
        // Before the next one has a copy of the same fields, which may be large.
        memory.validate().map_err(|error| Problem::from(error).of_entry("messages", memories.len()))?;
        memories.push(memory);
    }
    // Nothing is replaced: an earlier part of the conversation stays.
    let caller = caller(&app, body.namespace, body.robot, false);
    let replacement = Replacement { caller, continues: true, ..Replacement::default() };
    let describe = |results| json!(ConversationWritten { session, results });
    let (mut written, is_replayed) =
        replace_all(&app, operation, &replacement, ("messages", &memories[..]), describe).await?;
    if let Some(results) = written.get_mut("results") {
        waiting.wait_for_all(&app.htm, results).await;
    }
    Ok(answer(&written, is_replayed))
}
