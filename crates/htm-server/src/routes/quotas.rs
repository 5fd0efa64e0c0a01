//! `/v1/quotas`: how much a namespace may hold, and how often it may be asked.

use axum::Json;
use htm_core::{FieldChange, Quota, QuotaUse};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::{App, Shared};
use crate::codes;
use crate::extract::{Asked, Body};
use crate::problem::{Problem, Result};
use crate::routes::memories::{InNamespace, change};

pub(crate) fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(quota, set_quota))
}

/// A quota and its use.
#[derive(Debug, Serialize, ToSchema)]
struct QuotaAndUse {
    quota: Quota,
    /// The namespace's use. Null for a pattern such as `tenant-7/*`: its quota is of requests alone.
    used: Option<QuotaUse>,
}

/// Read the quota of a namespace, and what it uses of it.
#[utoipa::path(get, path = "/v1/quotas", tag = "namespaces", params(InNamespace),
    responses((status = 200, body = QuotaAndUse)))]
async fn quota(app: App, Asked(place): Asked<InNamespace>) -> Result<Json<QuotaAndUse>> {
    answer(&app, place.namespace.as_deref()).await
}

/// The limits of a quota. Null removes one; one that is not given stays.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewQuota {
    /// The namespace. Default: the server's.
    namespace: Option<String>,
    /// The most live memories.
    #[serde(default, deserialize_with = "change")]
    #[schema(value_type = Option<i64>)]
    max_memories: FieldChange<i64>,
    /// The most bytes of their texts.
    #[serde(default, deserialize_with = "change")]
    #[schema(value_type = Option<i64>)]
    max_bytes: FieldChange<i64>,
    /// The most requests a minute, of keys and tokens that see the namespace and no other. `tenant-7/*` counts those of all
    /// namespaces below `tenant-7`.
    #[serde(default, deserialize_with = "change")]
    #[schema(value_type = Option<i32>)]
    requests_per_minute: FieldChange<i32>,
}

/// Change the quota of a namespace, with a key of all namespaces.
///
/// Only the given limits change.
#[utoipa::path(patch, path = "/v1/quotas", tag = "namespaces", request_body = NewQuota,
    responses((status = 200, body = QuotaAndUse)))]
async fn set_quota(app: App, Body(body): Body<NewQuota>) -> Result<Json<QuotaAndUse>> {
    // A quota is the operator's limit on a tenant.
    if app.htm.namespaces().is_some() {
        let problem = "a quota is set with a key or a token of all namespaces, and this is none";
        return Err(Problem::new(codes::ROLE_INSUFFICIENT, problem)
            .with_hint("ask the operator, who has a key of all namespaces"));
    }
    let namespace = body.namespace.as_deref();
    app.htm
        .change_quota(namespace, |mut quota| {
            body.max_memories.apply(&mut quota.max_memories);
            body.max_bytes.apply(&mut quota.max_bytes);
            body.requests_per_minute.apply(&mut quota.requests_per_minute);
            quota
        })
        .await?;
    app.shared.access.forget();
    answer(&app, namespace).await
}

async fn answer(app: &App, namespace: Option<&str>) -> Result<Json<QuotaAndUse>> {
    let (quota, used) = (app.htm.quota(namespace).await?, app.htm.quota_use(namespace).await?);
    Ok(Json(QuotaAndUse { quota, used }))
}
