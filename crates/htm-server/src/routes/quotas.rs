//! `/v1/quotas`: how much a namespace may hold, and how often it may be asked.

use axum::Json;
use htm_core::{Quota, QuotaUse};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::{App, Shared};
use crate::codes;
use crate::extract::{Asked, Body};
use crate::problem::{Problem, Result};
use crate::routes::memories::InNamespace;

pub(crate) fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(quota, set_quota))
}

/// A quota and its use.
#[derive(Debug, Serialize, ToSchema)]
struct QuotaAndUse {
    quota: Quota,
    used: QuotaUse,
}

/// Read the quota of a namespace, and what it uses of it.
#[utoipa::path(get, path = "/v1/quotas", tag = "namespaces", params(InNamespace),
    responses((status = 200, body = QuotaAndUse)))]
async fn quota(app: App, Asked(place): Asked<InNamespace>) -> Result<Json<QuotaAndUse>> {
    answer(&app, place.namespace.as_deref()).await
}

/// A new quota. Null: no limit.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewQuota {
    /// The namespace. Default: the server's.
    namespace: Option<String>,
    /// The most live memories.
    max_memories: Option<i64>,
    /// The most bytes of their texts.
    max_bytes: Option<i64>,
    /// The most requests a minute, of keys and tokens that see the namespace and no other. `tenant-7/*` counts those of all
    /// namespaces below `tenant-7`.
    requests_per_minute: Option<i32>,
}

/// Set the quota of a namespace, with a key of all namespaces.
#[utoipa::path(put, path = "/v1/quotas", tag = "namespaces", request_body = NewQuota,
    responses((status = 200, body = QuotaAndUse)))]
async fn set_quota(app: App, Body(body): Body<NewQuota>) -> Result<Json<QuotaAndUse>> {
    // A quota is the operator's limit on a tenant.
    if app.htm.namespaces().is_some() {
        let problem = "a quota is set with a key of all namespaces, and the key is not one";
        return Err(Problem::new(codes::ROLE_INSUFFICIENT, problem));
    }
    let quota = Quota {
        max_memories: body.max_memories,
        max_bytes: body.max_bytes,
        requests_per_minute: body.requests_per_minute,
    };
    app.htm.set_quota(body.namespace.as_deref(), quota).await?;
    app.shared.access.forget();
    answer(&app, body.namespace.as_deref()).await
}

async fn answer(app: &App, namespace: Option<&str>) -> Result<Json<QuotaAndUse>> {
    let (quota, used) = (app.htm.quota(namespace).await?, app.htm.quota_use(namespace).await?);
    Ok(Json(QuotaAndUse { quota, used }))
}
