//! `/livez`, `/readyz`, `/metrics`: for orchestrators and monitoring.

use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::routing::get;
use htm_core::Htm;
use tokio::time::timeout;

use crate::app::{App, Shared};
use crate::codes;
use crate::problem::{Problem, Result};

/// <https://prometheus.io/docs/specs/om/open_metrics_spec/#overall-structure>
const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The time for the database to answer a probe. Probes give up after 5 s.
const PATIENCE: Duration = Duration::from_secs(4);

pub(crate) fn router() -> Router<Shared> {
    Router::new().route("/livez", get(livez)).route("/readyz", get(readyz))
}

pub(crate) fn metrics_router() -> Router<Shared> {
    Router::new().route("/metrics", get(metrics))
}

async fn livez() -> &'static str {
    "ok\n"
}

async fn readyz(State(shared): State<Shared>) -> impl IntoResponse {
    let unready = |reason: &str| (StatusCode::SERVICE_UNAVAILABLE, format!("{reason}\n"));
    if shared.stop.is_cancelled() {
        return unready("the server is stopping");
    }
    match timeout(PATIENCE, shared.htm.unknown_namespaces(&[])).await {
        Ok(Ok(_)) => (StatusCode::OK, format!("ok\n{}", replicas(&shared.htm))),
        Ok(Err(error)) => unready(error.code()),
        Err(_elapsed) => unready("the database does not answer"),
    }
}

/// A line for each replica that does not answer reads. The server is ready without it: the primary answers.
fn replicas(htm: &Htm) -> String {
    let states = htm.replicas().map(|replicas| replicas.states()).unwrap_or_default();
    let left_out = states.into_iter().filter(|state| !state.in_use);
    left_out.map(|state| format!("replica {} is not used: {}\n", state.host, state.reason)).collect()
}

async fn metrics(app: App) -> Result<impl IntoResponse> {
    if app.htm.namespaces().is_some() {
        let problem = "the metrics are of all namespaces, and the key or the token is not";
        return Err(Problem::new(codes::ROLE_INSUFFICIENT, problem)
            .with_hint("use a key or a token of all namespaces"));
    }
    Ok(([(CONTENT_TYPE, OPENMETRICS)], app.shared.metrics.render(&app.htm)))
}
