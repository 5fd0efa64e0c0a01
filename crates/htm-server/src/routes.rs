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

use std::collections::BTreeSet;

use axum::Router;
use axum::extract::Request;
use axum::middleware::{from_fn, from_fn_with_state};
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

/// The paths that take no key.
fn streams() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().merge(import::router()).merge(keys::creation())
}

/// The routes, apart by what is done around them.
pub(crate) struct Routes {
    written_once: Router<Shared>,
    others: Router<Shared>,
    reads: Router<Shared>,
    streams: Router<Shared>,
    /// The description of all of them.
    pub(crate) described: OpenApi,
    /// The paths that honour no key.
    pub(crate) without_key: BTreeSet<String>,
}

impl Routes {
    pub(crate) fn new() -> Self {
        let (written_once, mut described) = written_once().split_for_parts();
        let (others, of_others) = others().split_for_parts();
        let (reads, of_reads) = reads().split_for_parts();
        let (streams, of_streams) = streams().split_for_parts();
        let without_key = [&of_reads, &of_streams].into_iter().flat_map(|it| it.paths.paths.keys().cloned());
        let without_key = without_key.collect();
        for more in [of_others, of_reads, of_streams] {
            described.merge(more);
        }
        Self { written_once, others, reads, streams, described, without_key }
    }

    /// All routes with what is done around them.
    pub(crate) fn served(self, shared: Shared) -> Router {
        let mut writes = self
            .written_once
            .layer(from_fn(idempotency::by_handler))
            .merge(self.others.layer(from_fn_with_state(shared.clone(), idempotency::around)));
        if shared.htm.replicas().is_some() {
            writes = writes.layer(from_fn_with_state(shared.clone(), read_your_writes::wrote));
        }
        let api = writes
            // The answer to an import begins before its last writes.
            .merge(self.streams.layer(from_fn(idempotency::refused)))
            .merge(self.reads)
            .merge(mcp::router())
            .merge(health::metrics_router())
            .layer(from_fn_with_state(shared.clone(), request::limited))
            .layer(from_fn_with_state(shared.clone(), access::checked));
        api.merge(document::router())
            .merge(health::router())
            .merge(oauth::router())
            .merge(page::router())
            .merge(sign_in::router().layer(from_fn_with_state(shared.clone(), sign_in::limited)))
            .merge(console::router())
            .fallback(unknown_path)
            .method_not_allowed_fallback(unknown_method)
            .layer(from_fn_with_state(shared.clone(), request::observed))
            .with_state(shared)
    }
}

async fn unknown_path(request: Request) -> Problem {
    Problem::new(codes::ROUTE_UNKNOWN, format!("there is no path `{}`", request.uri().path()))
}

async fn unknown_method(request: Request) -> Problem {
    let problem = format!("the path `{}` has no method {}", request.uri().path(), request.method());
    Problem::new(codes::METHOD_UNKNOWN, problem)
}
