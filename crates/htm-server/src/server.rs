//! The listening server: connections, their limits, and the stop.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use htm_core::{Error, Htm, RecallQuery, Result};
use htm_documents::PdfReader;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::{Notify, Semaphore};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::access::Access;
use crate::app::Common;
use crate::backfills;
use crate::bodies::Bodies;
use crate::codes;
use crate::hosts::Hosts;
use crate::impatient::Impatient;
use crate::limits::{Limits, MAX_SIGN_INS};
use crate::metrics::Metrics;
use crate::oauth::OAuth;
use crate::parameters::Parameters;
use crate::permits::Permits;
use crate::routes::Routes;
use crate::tls::Tls;

/// The pause after a failed accept, for example without free file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(200);

/// Where a server listens, and under which names.
#[derive(Clone, Debug)]
pub struct Listening {
    /// The address. Port 0 is any free port.
    pub address: SocketAddr,
    /// The hosts by which it is called, beside those of this machine. None on an address that others can reach: any.
    pub hosts: Vec<String>,
    /// The certificate. None: plain HTTP.
    pub tls: Option<Tls>,
    /// The authorization server whose tokens are accepted. None: keys alone.
    pub oauth: Option<OAuth>,
}

impl From<SocketAddr> for Listening {
    fn from(address: SocketAddr) -> Self {
        Self { address, hosts: Vec::new(), tls: None, oauth: None }
    }
}

/// A bound server that does not answer yet.
pub struct Server {
    listener: TcpListener,
    listening: Listening,
    is_open: bool,
    htm: Htm,
    limits: Limits,
    pdfs: PdfReader,
}

impl Server {
    /// Binds an address.
    ///
    /// # Errors
    /// `listen_not_loopback` for an address that others can reach while there is neither a key of the API nor OAuth,
    /// `listen_unusable` for one that cannot be bound, or a database error.
    pub async fn bind(listening: impl Into<Listening>, htm: Htm, limits: Limits) -> Result<Self> {
        let mut listening = listening.into();
        let address = listening.address;
        let is_open = listening.oauth.is_none() && !htm.has_api_keys().await?;
        if is_open && !address.ip().is_loopback() {
            let message = format!("{address} is reachable from other machines, and no key is configured");
            return Err(Error::new(codes::LISTEN_NOT_LOOPBACK, message));
        }
        let unusable = |error: io::Error| {
            Error::new(codes::LISTEN_UNUSABLE, format!("{address} cannot be listened on")).with_source(error)
        };
        let listener = TcpListener::bind(address).await.map_err(unusable)?;
        listening.address = listener.local_addr().map_err(unusable)?;
        Ok(Self { listener, listening, is_open, htm, limits, pdfs: PdfReader::in_process() })
    }

    /// Has another reader read the PDFs of documents: without one, a small file may fill this process's memory.
    pub fn pdfs(mut self, reader: PdfReader) -> Self {
        self.pdfs = reader;
        self
    }

    /// The address that it listens on.
    pub fn address(&self) -> SocketAddr {
        self.listening.address
    }

    /// The URL of the address.
    pub fn url(&self) -> String {
        let scheme = if self.listening.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.listening.address)
    }

    /// Whether there was neither a key of the API nor OAuth when it was bound. Requests need no key then, until there is
    /// one.
    pub fn is_open(&self) -> bool {
        self.is_open
    }

    /// The authorization server whose tokens are accepted.
    pub fn oauth(&self) -> Option<&OAuth> {
        self.listening.oauth.as_ref()
    }

    /// Answers requests until `stop` is cancelled. Requests in hand may then end within the grace.
    pub async fn serve(self, stop: CancellationToken) {
        tokio::spawn(warm_up(self.htm.clone()));
        let _following = self.htm.follow_erasures();
        let backfills = Arc::new(Notify::new());
        let going_on = tokio::spawn(backfills::run(self.htm.clone(), backfills.clone(), stop.clone()));
        let routes = Routes::new();
        let metrics = Metrics::new();
        let recalls = metrics.recalls.clone();
        let shared = Common {
            htm: self.htm.on_recall(move |recalled| recalls.observe(recalled)),
            access: Access::new(self.listening.oauth.clone()),
            parameters: Parameters::of(&routes.described),
            limits: self.limits,
            pdfs: self.pdfs,
            permits: Permits::of_requests(self.limits.requests),
            sign_ins: Semaphore::new(MAX_SIGN_INS),
            bodies: Bodies::new(),
            metrics,
            hosts: Hosts::of(&self.listening),
            is_tls: self.listening.tls.is_some(),
            backfills,
            stop: stop.clone(),
        };
        let routes = routes.served(Arc::new(shared));
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
                    let stream = Impatient::new(stream, self.limits.stall_time);
                    let watcher = graceful.watcher();
                    let service = TowerToHyperService::new(routes.clone());
                    let (tls, header_time) = (self.listening.tls.clone(), self.limits.header_time);
                    tokio::spawn(async move {
                        let mut http = http1::Builder::new();
                        http.timer(TokioTimer::new()).header_read_timeout(header_time);
                        // A client may end its side after its request. Its write would be cancelled otherwise.
                        http.half_close(true);
                        // Errors of the connection are the client's.
                        match tls {
                            None => {
                                let connection = http.serve_connection(TokioIo::new(stream), service);
                                watcher.watch(connection).await.ok();
                            }
                            Some(tls) => {
                                if let Some(stream) = tls.accept(stream, header_time).await {
                                    let connection = http.serve_connection(TokioIo::new(stream), service);
                                    watcher.watch(connection).await.ok();
                                }
                            }
                        }
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
        // The chunk in hand ends, or its transaction is undone.
        timeout(self.limits.grace, going_on).await.ok();
    }
}

/// Loads what the first requests would wait for: the local model, and the tokens' vocabulary, which takes half as much
/// memory again as a server without a model, so that there the first write loads it. Another provider would be paid for
/// the call.
async fn warm_up(htm: Htm) {
    if htm.settings().embedding_model.provider == "local" {
        let encoding = htm.settings().token_encoding;
        tokio::task::spawn_blocking(move || encoding.count("warm")).await.ok();
        let query = RecallQuery { count_accesses: false, ..RecallQuery::new("warm").limit(1) };
        // While the database is away, the first recall says so.
        htm.recall(&query).await.ok();
    }
}
