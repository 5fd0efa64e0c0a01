//! The HTTP port of a worker: `/livez`, `/readyz` and `/metrics`, for orchestrators and monitoring. It exposes no text
//! of a memory and no key, and needs no password. The number of connections and the time of each are bounded, against
//! slow clients and floods.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::routing::get;
use htm_core::{Error, Result};
use htm_runtime::codes;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use sqlx::PgPool;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::monitor::Monitor;

/// <https://prometheus.io/docs/specs/om/open_metrics_spec/#overall-structure>
const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The most concurrent connections. Further clients wait. A probe and a few scrapers need one each.
const MAX_CONNECTIONS: usize = 64;
/// The time limit for a client to send its request. It is less than a probe's timeout (5 s in `config/deploy`), so a
/// probe behind silent clients is still answered.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(2);
/// The time limit of a connection. It includes the database's time for `/metrics`.
const CONNECTION_TIMEOUT: Duration = Duration::from_secs(30);
/// The pause after a failed accept, for example without free file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_secs(1);

/// A bound port that does not answer yet.
pub struct Port(TcpListener);

impl Port {
    /// Binds the port and logs its address. Port 0 is any free port.
    ///
    /// # Errors
    /// `address_in_use`, or `address_unusable`.
    pub async fn take(address: SocketAddr) -> Result<Self> {
        let unusable = |error: io::Error| {
            let code = match error.kind() {
                io::ErrorKind::AddrInUse => codes::ADDRESS_IN_USE,
                _ => codes::ADDRESS_UNUSABLE,
            };
            Error::new(code, format!("{address} cannot be listened on")).with_source(error)
        };
        let listener = TcpListener::bind(address).await.map_err(unusable)?;
        let address = listener.local_addr().map_err(unusable)?;
        tracing::info!(%address, "serving /livez, /readyz and /metrics");
        Ok(Self(listener))
    }

    /// Answers requests until it is dropped. The queue's gauges are read from `pool`.
    pub async fn serve(self, monitor: Arc<Monitor>, pool: PgPool) {
        let routes = Router::new()
            .route("/livez", get(livez))
            .route("/readyz", get(readyz))
            .route("/metrics", get(metrics))
            .with_state(Served { monitor, pool });
        let mut connections = JoinSet::new();
        loop {
            let accepted = tokio::select! {
                Some(_) = connections.join_next() => continue,
                accepted = self.0.accept(), if connections.len() < MAX_CONNECTIONS => accepted,
            };
            match accepted {
                Ok((stream, _)) => drop(connections.spawn(talk(stream, routes.clone()))),
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection to /livez, /readyz and /metrics");
                    sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }
}

/// Answers one request. Errors of the connection are the client's and are ignored.
async fn talk(stream: TcpStream, routes: Router) {
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(REQUEST_TIMEOUT)
        .keep_alive(false)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(routes));
    timeout(CONNECTION_TIMEOUT, connection).await.ok();
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
