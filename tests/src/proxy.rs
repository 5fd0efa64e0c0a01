//! A proxy before the database. Its connections can go silent, as behind a broken router or at a server without power, and
//! be encrypted.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use sqlx::postgres::PgConnectOptions;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use tokio_util::sync::CancellationToken;

use crate::Certificate;

/// Whether a client's message silences its connection.
type Condition = Box<dyn FnMut(&[u8]) -> bool + Send>;

/// Forwards connections. A silenced connection stays open, but nothing is forwarded in either direction.
pub struct Proxy {
    address: SocketAddr,
    shared: Arc<Shared>,
    // Dropped with the proxy, which ends every connection.
    _connections: JoinSet<()>,
}

struct Shared {
    to: PgConnectOptions,
    tls: Option<TlsAcceptor>,
    silence: Mutex<Condition>,
    silent: AtomicUsize,
    /// Cancelled when the server's machine loses its power.
    dark: CancellationToken,
}

impl Proxy {
    /// Starts a proxy before the database `to`.
    pub async fn start(to: PgConnectOptions) -> Self {
        Self::start_with(to, None).await
    }

    /// Starts a proxy that demands TLS and proves itself by a certificate.
    pub async fn start_tls(to: PgConnectOptions, certificate: &Certificate) -> Self {
        Self::start_with(to, Some(certificate.acceptor.clone())).await
    }

    async fn start_with(to: PgConnectOptions, tls: Option<TlsAcceptor>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("its address");
        let silence: Mutex<Condition> = Mutex::new(Box::new(|_| false));
        let (silent, dark) = (AtomicUsize::new(0), CancellationToken::new());
        let shared = Arc::new(Shared { to, tls, silence, silent, dark });
        let mut connections = JoinSet::new();
        connections.spawn(accept(listener, shared.clone()));
        Self { address, shared, _connections: connections }
    }

    /// The URL of the database through the proxy.
    pub fn url(&self) -> String {
        self.url_at("127.0.0.1", "sslmode=disable")
    }

    /// The URL under another name of this machine, with other parameters.
    pub fn url_at(&self, host: &str, parameters: &str) -> String {
        let to = &self.shared.to;
        let (user, database) = (to.get_username(), to.get_database().expect("a database"));
        format!("postgres://{user}@{host}:{port}/{database}?{parameters}", port = self.address.port())
    }

    /// From now on, silences a connection when its client sends a matching message. That message is not forwarded.
    pub fn silence(&self, when: impl FnMut(&[u8]) -> bool + Send + 'static) {
        *self.shared.silence.lock().expect("no panic holds it") = Box::new(when);
    }

    /// Silences every connection at once, also one that waits for an answer, and every later one: the server's machine has
    /// lost its power.
    pub fn lose_power(&self) {
        self.shared.dark.cancel();
    }

    /// The number of silenced connections.
    pub fn silent(&self) -> usize {
        self.shared.silent.load(Ordering::SeqCst)
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    while let Ok((client, _)) = listener.accept().await {
        let shared = shared.clone();
        connections.spawn(async move {
            match &shared.tls {
                None => connect(client, &shared).await,
                Some(tls) => {
                    // A client that does not trust the certificate goes away.
                    if let Ok(client) = encrypt(client, tls).await {
                        connect(client, &shared).await;
                    }
                }
            }
        });
    }
}

/// Agrees to the client's request for TLS: https://www.postgresql.org/docs/current/protocol-flow.html
async fn encrypt(mut client: TcpStream, tls: &TlsAcceptor) -> std::io::Result<TlsStream<TcpStream>> {
    client.read_exact(&mut [0; 8]).await?;
    client.write_all(b"S").await?;
    tls.accept(client).await
}

async fn connect(client: impl AsyncRead + AsyncWrite, shared: &Shared) {
    if shared.dark.is_cancelled() {
        return stay_silent(shared).await;
    }
    let to = &shared.to;
    let port = to.get_port();
    match to.get_socket() {
        Some(socket) => {
            let path = socket.join(format!(".s.PGSQL.{port}"));
            pass(client, UnixStream::connect(path).await.expect("the server"), shared).await;
        }
        None => {
            let server = TcpStream::connect((to.get_host(), port)).await.expect("the server");
            pass(client, server, shared).await;
        }
    }
}

/// Forwards a connection until either side ends. Never returns once it is silenced.
async fn pass(client: impl AsyncRead + AsyncWrite, server: impl AsyncRead + AsyncWrite, shared: &Shared) {
    let (mut from_client, mut to_client) = tokio::io::split(client);
    let (mut from_server, mut to_server) = tokio::io::split(server);
    let there = async {
        let mut bytes = vec![0; 1 << 16];
        loop {
            let count = from_client.read(&mut bytes).await.unwrap_or(0);
            if count == 0 || shared.silence.lock().expect("no panic holds it")(&bytes[..count]) {
                return count > 0;
            }
            if to_server.write_all(&bytes[..count]).await.is_err() {
                return false;
            }
        }
    };
    let is_silent = tokio::select! {
        biased;
        // First, as the server may be killed right after.
        () = shared.dark.cancelled() => true,
        is_silent = there => is_silent,
        _ = tokio::io::copy(&mut from_server, &mut to_client) => false,
    };
    if is_silent {
        stay_silent(shared).await;
    }
}

/// Keeps the connections of its caller open.
async fn stay_silent(shared: &Shared) {
    shared.silent.fetch_add(1, Ordering::SeqCst);
    std::future::pending::<()>().await;
}
