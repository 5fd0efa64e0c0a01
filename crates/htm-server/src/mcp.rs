//! `/mcp` and `/mcp/{namespace}`: the Model Context Protocol over streamable HTTP.
//!
//! Each request stands alone, as the protocol of 2026-07-28 has it; clients of older versions are served without a
//! session. So any server over the database can answer any request.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use htm_core::Htm;
use htm_mcp::{McpOptions, McpServer, ToolSet};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde::Deserialize;

use crate::app::App;
use crate::codes;
use crate::extract::{Asked, Named};
use crate::limits::MAX_BODY_BYTES;
use crate::problem::{Problem, Result};

/// The tools that a client gets.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Offered {
    tools: Option<String>,
}

pub(crate) fn router() -> Router<App> {
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
        .with_max_request_body_bytes(MAX_BODY_BYTES)
        .with_cancellation_token(app.stop.child_token());
    let make = move || Ok(server.clone());
    let service = StreamableHttpService::new(make, Arc::new(NeverSessionManager::default()), config);
    Ok(service.handle(request).await.map(Body::new).into_response())
}
