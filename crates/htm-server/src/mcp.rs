//! `/mcp` and `/mcp/{namespace}`: the Model Context Protocol over streamable HTTP.
//!
//! Each request stands alone, as the protocol of 2026-07-28 has it; clients of older versions are served without a
//! session. So any server over the database can answer any request.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::header::CONTENT_TYPE;
use axum::http::{Method, StatusCode};
use axum::response::Response;
use axum::routing::any;
use htm_core::Htm;
use htm_mcp::{McpOptions, McpServer, ToolSet};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::app::{App, Shared};
use crate::codes;
use crate::extract::{Asked, Named, bytes, json_only, unreadable, weigh};
use crate::limits::MAX_BODY_BYTES;
use crate::problem::{Problem, Result};

/// The most bytes of a refusal of the protocol's library.
const MAX_REFUSAL_BYTES: usize = 64 << 10;

/// The tools that a client gets.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Offered {
    tools: Option<String>,
}

pub(crate) fn router() -> Router<Shared> {
    Router::new().route("/mcp", any(everywhere)).route("/mcp/{*namespace}", any(within))
}

async fn everywhere(app: App, Asked(offered): Asked<Offered>, request: Request) -> Result<Response> {
    answer(&app, app.htm.clone(), &offered, request).await
}

/// Restricts every tool and resource to the namespace of the path.
async fn within(
    app: App,
    Named(namespace): Named<String>,
    Asked(offered): Asked<Offered>,
    request: Request,
) -> Result<Response> {
    answer(&app, app.htm.within([namespace])?, &offered, request).await
}

async fn answer(app: &App, htm: Htm, offered: &Offered, request: Request) -> Result<Response> {
    let request = read(request).await?;
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
    as_problem(service.handle(request).await.map(Body::new)).await
}

/// Reads the body of a message with the limits of every body, and refuses one that is no JSON.
async fn read(request: Request) -> Result<Request> {
    if request.method() != Method::POST {
        return Ok(request);
    }
    json_only(request.headers())?;
    let (parts, body) = request.into_parts();
    let body = bytes(&parts, body).await?;
    weigh(&parts, &body)?;
    serde_json::from_slice::<IgnoredAny>(&body).map_err(|error| unreadable(&error, body.is_empty()))?;
    Ok(Request::from_parts(parts, Body::from(body)))
}

/// The protocol's library refuses some requests with a plain text. They get a problem, as on every other path.
async fn as_problem(response: Response) -> Result<Response> {
    let (status, media_type) = (response.status(), response.headers().get(CONTENT_TYPE));
    let is_plain = media_type.is_none_or(|it| it.as_bytes().starts_with(b"text/plain"));
    if !status.is_client_error() || !is_plain {
        return Ok(response);
    }
    let text = to_bytes(response.into_body(), MAX_REFUSAL_BYTES).await.unwrap_or_default();
    let text = String::from_utf8_lossy(&text).into_owned();
    let code = match status {
        StatusCode::METHOD_NOT_ALLOWED => codes::METHOD_UNKNOWN,
        // The body is JSON, but no message of the protocol.
        StatusCode::UNSUPPORTED_MEDIA_TYPE => codes::BODY_INVALID,
        _ => return Err(Problem::new(codes::HEADER_INVALID, text).with_status(status)),
    };
    Err(Problem::new(code, text))
}
