//! `/v1/models`, `/v1/providers`, `/v1/budgets`, `/v1/usage`.

use axum::Json;
use htm_core::FieldChange;
use htm_core::models::{Activation, ModelOverview, ModelState, RegisteredModel, VectorIndex};
use htm_core::providers::{Budget, LimitChanges, Provider, TokenUsage};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::{App, Shared};
use crate::extract::{Asked, Body};
use crate::problem::Result;
use crate::routes::memories::change;

pub(crate) fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(list))
        .routes(routes!(activate))
        .routes(routes!(retire))
        .routes(routes!(providers, set_limits))
        .routes(routes!(reset_provider))
        .routes(routes!(budgets, set_budget))
        .routes(routes!(usage))
}

/// An embedding model with its progress.
#[derive(Debug, Serialize, ToSchema)]
struct Model {
    /// Its label, such as `local/all-MiniLM-L6-v2`.
    label: String,
    dimensions: usize,
    state: ModelState,
    /// Null: callers bring its vectors.
    queue: Option<String>,
    vector_index: VectorIndex,
    #[serde(flatten)]
    overview: ModelOverview,
}

/// List the embedding models with their progress. Reads every memory.
#[utoipa::path(get, path = "/v1/models", tag = "models", responses((status = 200, body = Vec<Model>)))]
async fn list(app: App) -> Result<Json<Vec<Model>>> {
    let models = app.htm.models()?;
    let mut listed = Vec::new();
    for model in models.list().await? {
        let overview = models.overview(&model).await?;
        let RegisteredModel { label, dimensions, state, queue, vector_index, .. } = model;
        listed.push(Model { label, dimensions, state, queue, vector_index, overview });
    }
    Ok(Json(listed))
}

/// The model to activate.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Activate {
    /// Its label.
    label: String,
    /// Whether memories that vectors find now may be lost to them.
    #[serde(default)]
    force: bool,
}

/// Make a model the one that recall uses; the old one goes on standby.
#[utoipa::path(post, path = "/v1/models/activate", tag = "models", request_body = Activate,
    responses((status = 200, body = Activation)))]
async fn activate(app: App, Body(body): Body<Activate>) -> Result<Json<Activation>> {
    Ok(Json(app.htm.models()?.activate(&body.label, body.force).await?))
}

/// The model to retire.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Retire {
    /// Its label.
    label: String,
    /// Whether its vectors are deleted too.
    #[serde(default)]
    drop: bool,
}

/// The effect of a retirement.
#[derive(Debug, Serialize, ToSchema)]
struct RetiredModel {
    /// Deleted jobs of the model.
    deleted_jobs: u64,
}

/// Retire a model: writes to it end, and its open jobs and dead letters are deleted.
#[utoipa::path(post, path = "/v1/models/retire", tag = "models", request_body = Retire,
    responses((status = 200, body = RetiredModel)))]
async fn retire(app: App, Body(body): Body<Retire>) -> Result<Json<RetiredModel>> {
    Ok(Json(RetiredModel { deleted_jobs: app.htm.models()?.retire(&body.label, body.drop).await? }))
}

/// List the models of providers that have limits or have failed.
#[utoipa::path(get, path = "/v1/providers", tag = "models", responses((status = 200, body = Vec<Provider>)))]
async fn providers(app: App) -> Result<Json<Vec<Provider>>> {
    Ok(Json(app.htm.providers()?.list().await?))
}

/// Limits of a provider's model. Null removes one; one that is not given stays.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Limits {
    /// The model, such as `openai/text-embedding-3-small`.
    model: String,
    /// Requests a minute, at least 1.
    #[serde(default, deserialize_with = "change")]
    #[schema(value_type = Option<i32>)]
    requests_per_minute: FieldChange<i32>,
    /// Tokens a minute, at least 1.
    #[serde(default, deserialize_with = "change")]
    #[schema(value_type = Option<i32>)]
    tokens_per_minute: FieldChange<i32>,
    /// Concurrent calls, at least 1.
    #[serde(default, deserialize_with = "change")]
    #[schema(value_type = Option<i32>)]
    concurrent_calls: FieldChange<i32>,
}

/// Limit the calls to a provider's model.
#[utoipa::path(patch, path = "/v1/providers", tag = "models", request_body = Limits,
    responses((status = 200, body = Vec<Provider>)))]
async fn set_limits(app: App, Body(body): Body<Limits>) -> Result<Json<Vec<Provider>>> {
    let changes = LimitChanges {
        requests_per_minute: body.requests_per_minute,
        tokens_per_minute: body.tokens_per_minute,
        concurrent_calls: body.concurrent_calls,
    };
    let providers = app.htm.providers()?;
    providers.set_limits(&body.model, changes).await?;
    Ok(Json(providers.list().await?))
}

/// A provider's model.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct OfProvider {
    /// The model, such as `openai/text-embedding-3-small`.
    model: String,
}

/// The effect of a reset.
#[derive(Debug, Serialize, ToSchema)]
struct Reset {
    /// Jobs that are due again.
    jobs: u64,
}

/// Forget the failures of a provider's model: its breaker closes, and its jobs are due.
#[utoipa::path(post, path = "/v1/providers/reset", tag = "models", request_body = OfProvider,
    responses((status = 200, body = Reset)))]
async fn reset_provider(app: App, Body(body): Body<OfProvider>) -> Result<Json<Reset>> {
    Ok(Json(Reset { jobs: app.htm.providers()?.reset(&body.model).await? }))
}

/// List the namespaces that have a budget of tokens.
#[utoipa::path(get, path = "/v1/budgets", tag = "models", responses((status = 200, body = Vec<Budget>)))]
async fn budgets(app: App) -> Result<Json<Vec<Budget>>> {
    Ok(Json(app.htm.providers()?.budgets().await?))
}

/// A budget of a namespace.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewBudget {
    /// The namespace.
    namespace: String,
    /// The tokens that it may spend a day. Null: any number.
    tokens_per_day: Option<i64>,
}

/// Set the budget of a namespace.
#[utoipa::path(put, path = "/v1/budgets", tag = "models", request_body = NewBudget,
    responses((status = 200, body = Reset)))]
async fn set_budget(app: App, Body(body): Body<NewBudget>) -> Result<Json<Reset>> {
    let jobs = app.htm.providers()?.set_budget(&body.namespace, body.tokens_per_day).await?;
    Ok(Json(Reset { jobs }))
}

/// The time of a usage.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct UsageQuery {
    /// The last days (UTC), today included, 1 to 366. Default: 7.
    days: Option<u32>,
}

/// List the tokens of the memories that models have processed lately, by day, stage and model.
#[utoipa::path(get, path = "/v1/usage", tag = "models", params(UsageQuery),
    responses((status = 200, body = Vec<TokenUsage>)))]
async fn usage(app: App, Asked(asked): Asked<UsageQuery>) -> Result<Json<Vec<TokenUsage>>> {
    Ok(Json(app.htm.providers()?.usage(asked.days.unwrap_or(7)).await?))
}
