//! The routes, one file a subject.

mod backfills;
mod conversations;
mod documents;
mod erase;
mod events;
mod export;
mod files;
mod forget;
mod groups;
mod health;
mod import;
mod jobs;
mod keys;
mod learning;
mod members;
mod memories;
mod models;
mod namespaces;
mod ontology;
mod quotas;
mod recall;
mod relations;
mod remember;
mod robots;
mod tags;
mod vectors;

use axum::Router;
use axum::extract::Request;
use axum::http::header::CONTENT_TYPE;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::get;
use utoipa::openapi::OpenApi;
use utoipa_axum::router::OpenApiRouter;

use crate::app::Shared;
use crate::codes;
use crate::problem::Problem;
use crate::{access, console, document, idempotency, mcp, oauth, page, read_your_writes, request, sign_in};

/// The paths whose handlers keep the answer of a write with a key.
fn written_once() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().merge(remember::written_once()).merge(conversations::written_once())
}

/// The paths whose answer is kept around the handler.
fn others() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .merge(memories::router())
        .merge(relations::router())
        .merge(forget::router())
        .merge(erase::router())
        .merge(files::writes())
        .merge(documents::router())
        .merge(namespaces::router())
        .merge(quotas::router())
        .merge(keys::router())
        .merge(robots::router())
        .merge(groups::router())
        .merge(members::router())
        .merge(backfills::router())
        .merge(tags::router())
        .merge(ontology::router())
        .merge(jobs::router())
        .merge(models::router())
        .merge(vectors::router())
        .merge(learning::router())
}

/// The paths that only read, or that may be asked again. A key means nothing there, and an answer with the texts of
/// memories is not kept.
fn reads() -> OpenApiRouter<Shared> {
    recall::router()
        .merge(export::router())
        .merge(events::router())
        .merge(files::reads())
        .merge(members::reads())
}

/// Whether a path honours a key.
pub(crate) fn takes_key(path: &str) -> bool {
    let without = [reads().into_openapi(), streams().into_openapi()];
    !without.iter().any(|described| described.paths.paths.contains_key(path))
}

/// The paths that take no key.
fn streams() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().merge(import::router()).merge(keys::creation())
}

/// The description of all paths.
pub(crate) fn described() -> OpenApi {
    OpenApiRouter::new().merge(written_once()).merge(others()).merge(reads()).merge(streams()).into_openapi()
}

/// All routes with what is done around them.
pub(crate) fn all(shared: Shared) -> Router {
    let (written_once, _) = written_once().split_for_parts();
    let (others, _) = others().split_for_parts();
    let (reads, _) = reads().split_for_parts();
    let (streams, _) = streams().split_for_parts();
    let document = document::openapi().to_string();
    let mut writes = written_once
        .layer(from_fn(idempotency::by_handler))
        .merge(others.layer(from_fn_with_state(shared.clone(), idempotency::around)));
    if shared.htm.replicas().is_some() {
        writes = writes.layer(from_fn_with_state(shared.clone(), read_your_writes::wrote));
    }
    let api = writes
        // The answer to an import begins before its last writes.
        .merge(streams.layer(from_fn(idempotency::refused)))
        .merge(reads)
        .merge(mcp::router())
        .merge(health::metrics_router())
        .layer(from_fn_with_state(shared.clone(), access::checked))
        .layer(from_fn_with_state(shared.clone(), request::limited));
    let openapi = get(async move || ([(CONTENT_TYPE, "application/json")], document));
    api.route("/openapi.json", openapi)
        .merge(health::router())
        .merge(oauth::router())
        .merge(page::router())
        .merge(sign_in::router().layer(from_fn_with_state(shared.clone(), request::limited)))
        .merge(console::router())
        .fallback(unknown_path)
        .method_not_allowed_fallback(unknown_method)
        .layer(from_fn_with_state(shared.clone(), request::observed))
        .with_state(shared)
}

async fn unknown_path(request: Request) -> Problem {
    Problem::new(codes::ROUTE_UNKNOWN, format!("there is no path `{}`", request.uri().path()))
}

async fn unknown_method(request: Request) -> Problem {
    let problem = format!("the path `{}` has no method {}", request.uri().path(), request.method());
    Problem::new(codes::METHOD_UNKNOWN, problem)
}
