//! Vectors that callers bring: their models, and a memory's vector that comes after it.

use axum::Json;
use htm_core::models::RegisteredModel;
use htm_core::provider::{CALLER, ModelName};
use htm_core::{NodeId, VectorSet};
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::{App, Shared};
use crate::codes;
use crate::extract::{Body, Named};
use crate::problem::{Problem, Result};
use crate::routes::memories::caller;

pub(crate) fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(set_vector)).routes(routes!(add))
}

/// The vector of a memory's text.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct BroughtVector {
    /// The label of the model, such as `caller/mine`.
    model: String,
    /// The revision of the text that it was made of.
    revision: i32,
    /// Its numbers, as many as the model has dimensions.
    vector: Vec<f32>,
    /// The namespace of the robot that brings it. Default: the server's.
    namespace: Option<String>,
    /// The robot that brings it: it may change what it remembered. Default: the server's.
    robot: Option<String>,
    /// Whether a memory of any robot may be changed.
    #[serde(default)]
    any_robot: bool,
}

/// Set the vector of a memory, by a model whose vectors callers bring.
///
/// If the text has another revision by now, it is refused (409).
#[utoipa::path(put, path = "/v1/memories/{id}/vector", tag = "memories", params(("id" = i64, Path)),
    request_body = BroughtVector, responses((status = 200, body = VectorSet)))]
async fn set_vector(
    app: App,
    Named(id): Named<NodeId>,
    Body(body): Body<BroughtVector>,
) -> Result<Json<VectorSet>> {
    let caller = caller(&app, body.namespace, body.robot, body.any_robot);
    Ok(Json(app.htm.set_vector(id, body.revision, &body.model, &body.vector, &caller).await?))
}

/// A model whose vectors callers bring.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct CallersModel {
    /// Its name. The label is `caller/` and the name.
    name: String,
    /// The length of its vectors, 1 to 4,000.
    dimensions: usize,
}

/// Add an embedding model whose vectors callers bring.
///
/// The first model of a database is active at once. Another one is activated by `POST /v1/models/activate`.
#[utoipa::path(post, path = "/v1/models", tag = "models", request_body = CallersModel,
    responses((status = 200, body = RegisteredModel)))]
async fn add(app: App, Body(body): Body<CallersModel>) -> Result<Json<RegisteredModel>> {
    let invalid = |what: String| Err(Problem::new(codes::BODY_INVALID, what));
    if !(1..=4_000).contains(&body.dimensions) {
        return invalid(format!("dimensions is {}, outside 1 to 4,000", body.dimensions));
    }
    if body.name.trim().is_empty() || body.name.len() > 128 || body.name.chars().any(char::is_control) {
        return invalid("name is empty, longer than 128 bytes, or has a control character".into());
    }
    let name = ModelName::new(CALLER, body.name.trim());
    Ok(Json(app.htm.models()?.add(&name, body.dimensions).await?))
}
