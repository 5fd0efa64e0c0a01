//! The port of a worker: `/livez`, `/readyz` and `/metrics`, for whatever looks after the process. It shows no text
//! of a memory and no key, and asks for no password.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::routing::get;
use htm_runtime::RuntimeError;
use sqlx::PgPool;
use tokio::net::TcpListener;

use crate::monitor::Monitor;

/// <https://prometheus.io/docs/specs/om/open_metrics_spec/#overall-structure>
const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// A port that is taken, and does not answer yet.
pub struct Port(TcpListener);

impl Port {
    /// Takes the port; the address that it got is logged (port 0: any that is free).
    ///
    /// # Errors
    /// `address_in_use`, or `address_unusable`.
    pub async fn take(address: SocketAddr) -> Result<Self, RuntimeError> {
        let unusable = |source| RuntimeError::Listen { address, source };
        let listener = TcpListener::bind(address).await.map_err(unusable)?;
        let address = listener.local_addr().map_err(unusable)?;
        tracing::info!(%address, "serving /livez, /readyz and /metrics");
        Ok(Self(listener))
    }

    /// Answers until it is dropped; the pool is where the queue's gauges are read.
    pub async fn serve(self, monitor: Arc<Monitor>, pool: PgPool) {
        let routes = Router::new()
            .route("/livez", get(livez))
            .route("/readyz", get(readyz))
            .route("/metrics", get(metrics))
            .with_state(Served { monitor, pool });
        if let Err(error) = axum::serve(self.0, routes).await {
            tracing::error!(%error, "/livez, /readyz and /metrics are served no more");
        }
    }
}

#[derive(Clone)]
struct Served {
    monitor: Arc<Monitor>,
    pool: PgPool,
}

async fn livez(State(served): State<Served>) -> impl IntoResponse {
    answer(served.monitor.vitals.live())
}

async fn readyz(State(served): State<Served>) -> impl IntoResponse {
    answer(served.monitor.vitals.ready())
}

async fn metrics(State(served): State<Served>) -> impl IntoResponse {
    ([(CONTENT_TYPE, OPENMETRICS)], served.monitor.metrics.render(&served.pool).await)
}

fn answer(state: Result<(), String>) -> (StatusCode, String) {
    match state {
        Ok(()) => (StatusCode::OK, "ok\n".into()),
        Err(reason) => (StatusCode::SERVICE_UNAVAILABLE, format!("{reason}\n")),
    }
}
