//! The listening server: connections, their limits, and the stop.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use htm_core::{Error, Htm, RecallQuery, Result};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::codes;
use crate::limits::{Limits, MAX_BODIES_BYTES};
use crate::metrics::Metrics;
use crate::routes;

/// The pause after a failed accept, for example without free file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(200);

/// A bound server that does not answer yet.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    htm: Htm,
    limits: Limits,
}

impl Server {
    /// Binds an address of this machine. Port 0 is any free port.
    ///
    /// # Errors
    /// `listen_not_loopback` for an address that others can reach: the server has no keys yet. `listen_unusable` for one
    /// that cannot be bound.
    pub async fn bind(address: SocketAddr, htm: Htm, limits: Limits) -> Result<Self> {
        if !address.ip().is_loopback() {
            let message = format!("{address} is reachable from other machines, and no key is configured");
            return Err(Error::new(codes::LISTEN_NOT_LOOPBACK, message));
        }
        let unusable = |error: io::Error| {
            Error::new(codes::LISTEN_UNUSABLE, format!("{address} cannot be listened on")).with_source(error)
        };
        let listener = TcpListener::bind(address).await.map_err(unusable)?;
        let address = listener.local_addr().map_err(unusable)?;
        Ok(Self { listener, address, htm, limits })
    }

    /// The address that it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers requests until `stop` is cancelled. Requests in hand may then end within the grace.
    pub async fn serve(self, stop: CancellationToken) {
        tokio::spawn(warm_up(self.htm.clone()));
        let app = App {
            htm: self.htm,
            limits: self.limits,
            permits: Arc::new(Semaphore::new(self.limits.requests)),
            bodies: Arc::new(Semaphore::new(MAX_BODIES_BYTES / 1_024)),
            metrics: Arc::new(Metrics::new()),
            hosts: hosts(self.address).into(),
            stop: stop.clone(),
        };
        let routes = routes::all(app);
        let connections = Arc::new(Semaphore::new(self.limits.connections));
        let graceful = GracefulShutdown::new();
        loop {
            let free = connections.clone().acquire_owned();
            let accepted = tokio::select! {
                () = stop.cancelled() => break,
                accepted = async { (free.await, self.listener.accept().await) } => accepted,
            };
            match accepted {
                (Ok(free), Ok((stream, _))) => {
                    // Answers are small, and a client waits for each.
                    stream.set_nodelay(true).ok();
                    let connection = http1::Builder::new()
                        .timer(TokioTimer::new())
                        .header_read_timeout(self.limits.header_time)
                        .serve_connection(TokioIo::new(stream), service(&routes));
                    let connection = graceful.watch(connection);
                    tokio::spawn(async move {
                        // Errors of the connection are the client's.
                        connection.await.ok();
                        drop(free);
                    });
                }
                (_, Err(error)) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    sleep(ACCEPT_PAUSE).await;
                }
                // The semaphore is never closed.
                (Err(_), Ok(_)) => break,
            }
        }
        drop(self.listener);
        if timeout(self.limits.grace, graceful.shutdown()).await.is_err() {
            tracing::warn!(grace_ms = self.limits.grace.as_millis() as u64, "requests in hand were ended");
        }
    }
}

fn service(routes: &Router) -> TowerToHyperService<Router> {
    TowerToHyperService::new(routes.clone())
}

/// The hosts by which a loopback address is called.
fn hosts(address: SocketAddr) -> Vec<String> {
    let ip = match address {
        SocketAddr::V4(it) => it.ip().to_string(),
        SocketAddr::V6(it) => format!("[{}]", it.ip()),
    };
    vec!["localhost".into(), "127.0.0.1".into(), "[::1]".into(), ip]
}

/// Loads what the first requests would wait for: the tokens' vocabulary, and the local model. Another provider would be
/// paid for the call.
async fn warm_up(htm: Htm) {
    let encoding = htm.settings().token_encoding;
    tokio::task::spawn_blocking(move || encoding.count("warm")).await.ok();
    if htm.settings().embedding_model.provider == "local" {
        let query = RecallQuery { count_accesses: false, ..RecallQuery::new("warm").limit(1) };
        // While the database is away, the first recall says so.
        htm.recall(&query).await.ok();
    }
}
