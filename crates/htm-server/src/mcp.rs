//! `/mcp` and `/mcp/{namespace}`: the Model Context Protocol over streamable HTTP.
//!
//! Each request stands alone, as the protocol of 2026-07-28 has it; clients of older versions are served without a
//! session. So any server over the database can answer any request. The messages of a batch, which the protocol of
//! 2025-03-26 has, are answered one after the other.

use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::header::{ALLOW, CONTENT_TYPE};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use axum::{Json, Router};
use bytes::Bytes;
use htm_core::Htm;
use htm_mcp::{McpOptions, McpServer, ToolSet};
use rmcp::model::{ErrorData, JsonRpcError};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::app::{App, Shared};
use crate::codes;
use crate::extract::{Asked, Named, bytes, json_only, unreadable, weigh};
use crate::limits::{MAX_BODY_BYTES, MAX_MESSAGES};
use crate::problem::{Problem, Result};

/// The most bytes of a refusal of the protocol's library.
const MAX_REFUSAL_BYTES: usize = 64 << 10;

const JSON: &[u8] = b"application/json";

type Service = StreamableHttpService<McpServer, NeverSessionManager>;

/// The tools that a client gets.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Offered {
    tools: Option<String>,
}

pub(crate) fn router() -> Router<Shared> {
    Router::new().route("/mcp", any(everywhere)).route("/mcp/{*namespace}", any(within))
}

async fn everywhere(app: App, offered: Result<Asked<Offered>>, request: Request) -> Result<Response> {
    answer(&app, app.htm.clone(), offered, request).await.map_err(hinted)
}

/// Restricts every tool and resource to the namespace of the path.
async fn within(
    app: App,
    Named(namespace): Named<String>,
    offered: Result<Asked<Offered>>,
    request: Request,
) -> Result<Response> {
    answer(&app, app.htm.within([namespace])?, offered, request).await.map_err(hinted)
}

async fn answer(app: &App, htm: Htm, offered: Result<Asked<Offered>>, request: Request) -> Result<Response> {
    let Asked(offered) = offered?;
    // A membership in a group needs a process of its own, so the tools of groups are not offered here.
    let tools = match offered.tools.as_deref() {
        None | Some("default") => ToolSet::Default,
        Some("ops") => ToolSet::Ops,
        Some("chatgpt") => ToolSet::Chatgpt,
        Some(other) => {
            let problem = format!("tools is `{other}`, not one of: default, ops, chatgpt");
            return Err(Problem::new(codes::QUERY_INVALID, problem));
        }
    };
    let server = McpServer::new(htm, McpOptions { tools, role: app.role, ..McpOptions::default() });
    // Hosts and origins are checked for all paths alike.
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        // A stop ends no call: nothing has a session, and the server waits for what is in hand.
        .with_max_request_body_bytes(MAX_BODY_BYTES);
    let make = move || Ok(server.clone());
    let service = StreamableHttpService::new(make, Arc::new(NeverSessionManager::default()), config);
    if request.method() != Method::POST {
        return Ok(as_problem(service.handle(request).await.map(Body::new)).await);
    }
    let (parts, body) = read(request).await?;
    match body.trim_ascii_start().first() {
        Some(b'[') => all(&service, &parts, &body).await,
        _ => match one(&service, parts, body).await {
            Ok(response) => Ok(as_problem(response).await),
            // The client can tell which of its requests is refused.
            Err(Some(error)) if error.id.is_some() => Ok(Json(error).into_response()),
            Err(error) => {
                let what = error.map_or("it is no message of the protocol".into(), |it| it.error.message);
                Err(Problem::new(codes::BODY_INVALID, format!("the body cannot be read: {what}")))
            }
        },
    }
}

/// Reads the body of a request with the limits of every body, and refuses one that is no JSON.
async fn read(request: Request) -> Result<(Parts, Bytes)> {
    json_only(request.headers())?;
    let (parts, body) = request.into_parts();
    let body = bytes(&parts, body).await?;
    weigh(&parts, &body)?;
    serde_json::from_slice::<IgnoredAny>(&body).map_err(|error| unreadable(&error, body.is_empty()))?;
    Ok((parts, body))
}

/// Answers a message. The error is the answer to what is no message, if there is one.
async fn one(service: &Service, parts: Parts, body: Bytes) -> Result<Response, Option<Box<JsonRpcError>>> {
    let response = service.handle(Request::from_parts(parts, Body::from(body.clone()))).await.map(Body::new);
    match response.status() {
        // The media type was looked at before. This is JSON that the library does not know.
        StatusCode::UNSUPPORTED_MEDIA_TYPE => Err(match serde_json::from_slice::<Value>(&body) {
            Ok(value) => htm_mcp::message(&value).err().flatten(),
            Err(error) => {
                let flaw = ErrorData::parse_error(htm_core::unreadable(&error), None);
                Some(Box::new(JsonRpcError::new(htm_mcp::id_of(&*body), flaw)))
            }
        }),
        _ => Ok(response),
    }
}

/// Answers the messages of a batch with a list. Notifications have no place in it.
async fn all(service: &Service, parts: &Parts, body: &Bytes) -> Result<Response> {
    let messages: Vec<Value> = serde_json::from_slice(body).map_err(|error| unreadable(&error, false))?;
    if messages.is_empty() {
        return Err(Problem::new(codes::BODY_INVALID, "the batch has no message"));
    }
    if messages.len() > MAX_MESSAGES {
        let problem = format!("the batch has {} messages, of {MAX_MESSAGES} at most", messages.len());
        return Err(Problem::new(codes::BATCH_TOO_LARGE, problem));
    }
    let mut answers = Vec::new();
    for message in messages {
        let answer = match one(service, parts.clone(), message.to_string().into()).await {
            Ok(response) if response.status() == StatusCode::ACCEPTED => continue,
            Ok(response) if is_of(&response, JSON) => {
                to_bytes(response.into_body(), usize::MAX).await.unwrap_or_default()
            }
            // What is refused without JSON are the headers, which are those of every message.
            Ok(response) => return Ok(as_problem(response).await),
            Err(Some(error)) => serde_json::to_vec(&error).unwrap_or_default().into(),
            Err(None) => continue,
        };
        answers.extend_from_slice(if answers.is_empty() { b"[" } else { b"," });
        answers.extend_from_slice(&answer);
    }
    if answers.is_empty() {
        return Ok(StatusCode::ACCEPTED.into_response());
    }
    answers.push(b']');
    Ok(([(CONTENT_TYPE, HeaderValue::from_static("application/json"))], answers).into_response())
}

/// Whether a response has a media type.
fn is_of(response: &Response, media_type: &[u8]) -> bool {
    response.headers().get(CONTENT_TYPE).is_some_and(|it| it.as_bytes().starts_with(media_type))
}

/// The protocol's library refuses some requests with a plain text. They get a problem, as on every other path.
async fn as_problem(response: Response) -> Response {
    let status = response.status();
    let is_plain = !response.headers().contains_key(CONTENT_TYPE) || is_of(&response, b"text/plain");
    if !status.is_client_error() || !is_plain {
        return response;
    }
    let allowed = response.headers().get(ALLOW).cloned();
    let text = to_bytes(response.into_body(), MAX_REFUSAL_BYTES).await.unwrap_or_default();
    let text = String::from_utf8_lossy(&text).into_owned();
    let problem = match status {
        StatusCode::METHOD_NOT_ALLOWED => Problem::new(codes::METHOD_UNKNOWN, text),
        _ => Problem::new(codes::HEADER_INVALID, text).with_status(status),
    };
    let mut response = hinted(problem).into_response();
    response.headers_mut().extend(allowed.map(|allowed| (ALLOW, allowed)));
    response
}

/// The description of the other paths says nothing about this one.
fn hinted(problem: Problem) -> Problem {
    let hints = [
        (codes::METHOD_UNKNOWN, "send each message by POST: there is no stream to listen to, and no session"),
        (
            codes::HEADER_INVALID,
            "send the headers that the Model Context Protocol asks for, as its clients do",
        ),
        (codes::BODY_INVALID, "send a message of JSON-RPC 2.0, or a list of messages"),
        (codes::QUERY_INVALID, "`tools` is the only parameter: default, ops or chatgpt"),
    ];
    match hints.into_iter().find(|(code, _)| problem.is(code)) {
        Some((_, hint)) => problem.with_hint(hint),
        None => problem,
    }
}
