//! `/.well-known/oauth-protected-resource`: which authorization server a client asks for a token (RFC 9728).

use axum::extract::{Request, State};
use axum::routing::get;
use axum::{Json, Router};
use htm_core::Role;
use reqwest::Url;
use serde_json::{Value, json};

use super::scope;
use crate::app::Shared;
use crate::codes;
use crate::problem::{Problem, Result};

const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// The metadata of the whole server, and of the endpoints of MCP, which are resources of their own for their clients.
pub(crate) fn router() -> Router<Shared> {
    Router::new()
        .route(WELL_KNOWN, get(metadata))
        .route(&format!("{WELL_KNOWN}/mcp"), get(metadata))
        .route(&format!("{WELL_KNOWN}/mcp/{{*namespace}}"), get(metadata))
}

async fn metadata(State(shared): State<Shared>, request: Request) -> Result<Json<Value>> {
    let path = request.uri().path();
    let Some(oauth) = shared.access.oauth() else {
        return Err(Problem::new(codes::ROUTE_UNKNOWN, "the server accepts no tokens of OAuth"));
    };
    let part = path.strip_prefix(WELL_KNOWN).unwrap_or_default();
    Ok(Json(json!({
        "resource": format!("{}{part}", oauth.0.resource),
        "authorization_servers": [oauth.0.issuer],
        "scopes_supported": Role::ALL.map(scope),
        "bearer_methods_supported": ["header"],
        "resource_name": "HTM",
    })))
}

/// Whether a path is an endpoint of MCP.
pub(super) fn is_mcp(path: &str) -> bool {
    path == "/mcp" || path.starts_with("/mcp/")
}

/// The URL of the metadata of a part of the server.
pub(super) fn place(server: &Url, part: &str) -> Url {
    let mut place = server.clone();
    // Quotes and what is not ASCII are escaped.
    place.set_path(&format!("{WELL_KNOWN}{part}"));
    place
}
