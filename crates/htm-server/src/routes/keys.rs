//! `/v1/keys` and `/v1/audit`: the keys of the API, and who did what.

use std::time::Duration;

use axum::Json;
use axum::http::StatusCode;
use htm_core::error::codes::NAMESPACE_INVALID;
use htm_core::{ApiKey, AuditEntry, CreatedApiKey, NewApiKey, Role};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::{App, Shared};
use crate::extract::{Asked, Body, Named, next};
use crate::problem::{Problem, Result};

/// The answer to a creation has a secret, so it is not kept for a retry.
pub(crate) fn creation() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(create))
}

pub(crate) fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(revoke)).routes(routes!(audit))
}

/// A new key.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewKey {
    /// The role of its holder.
    role: Role,
    /// Its namespaces; `tenant-7/*` stands for every namespace below `tenant-7`. Null: all. An empty list is
    /// refused.
    namespaces: Option<Vec<String>>,
    /// The robot of its requests. Null: each request names its own.
    robot: Option<String>,
    /// A name for people.
    name: Option<String>,
    /// The seconds until it expires. Null: never.
    expires_in_seconds: Option<u64>,
    /// The most requests a minute, over all servers. Null: no limit.
    requests_per_minute: Option<i32>,
}

/// Create a key.
///
/// The answer has the whole key. It cannot be read again.
#[utoipa::path(post, path = "/v1/keys", tag = "keys", request_body = NewKey,
    responses((status = 201, body = CreatedApiKey)))]
async fn create(app: App, Body(body): Body<NewKey>) -> Result<(StatusCode, Json<CreatedApiKey>)> {
    if body.namespaces.as_ref().is_some_and(Vec::is_empty) {
        let what = "the list of namespaces is empty; a key for all namespaces has none";
        return Err(Problem::new(NAMESPACE_INVALID, what));
    }
    let key = NewApiKey {
        role: body.role,
        namespaces: body.namespaces.unwrap_or_default(),
        robot: body.robot,
        name: body.name,
        expires_in: body.expires_in_seconds.map(Duration::from_secs),
        requests_per_minute: body.requests_per_minute,
    };
    Ok((StatusCode::CREATED, Json(app.htm.create_api_key(&key).await?)))
}

/// Keys.
#[derive(Debug, Serialize, ToSchema)]
struct Keys {
    /// The newest first.
    keys: Vec<ApiKey>,
}

/// List the keys.
#[utoipa::path(get, path = "/v1/keys", tag = "keys", responses((status = 200, body = Keys)))]
async fn list(app: App) -> Result<Json<Keys>> {
    Ok(Json(Keys { keys: app.htm.api_keys().await? }))
}

/// Revoke a key.
///
/// This server refuses it at once, others within a second.
#[utoipa::path(delete, path = "/v1/keys/{id}", tag = "keys",
    params(("id" = String, Path,
        description = "The visible part of the key, or the whole key; prefer the part, since proxies log URLs.")),
    responses((status = 200, body = ApiKey)))]
async fn revoke(app: App, Named(id): Named<String>) -> Result<Json<ApiKey>> {
    let revoked = app.htm.revoke_api_key(&id).await?;
    app.shared.access.forget();
    Ok(Json(revoked))
}

/// The entries to list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct AuditQuery {
    /// `next` of the previous page.
    cursor: Option<String>,
    /// The most entries, 1 to 10,000. Default: 100.
    limit: Option<usize>,
}

/// The audit log.
#[derive(Debug, Serialize, ToSchema)]
struct AuditLog {
    /// The newest first.
    entries: Vec<AuditEntry>,
    /// The cursor of the next page; null: this is the last.
    next: Option<String>,
}

/// List who did what.
///
/// It has changes of keys, limits, policies, robots, models and the ontology, and deletions.
#[utoipa::path(get, path = "/v1/audit", tag = "keys", params(AuditQuery),
    responses((status = 200, body = AuditLog)))]
async fn audit(app: App, Asked(asked): Asked<AuditQuery>) -> Result<Json<AuditLog>> {
    let before = asked.cursor.as_deref().map(str::parse).transpose()?;
    let limit = asked.limit.unwrap_or(100);
    let entries = app.htm.audit_log(before, limit).await?;
    let next = next(&entries, limit, |entry| entry.cursor.to_string());
    Ok(Json(AuditLog { entries, next }))
}
