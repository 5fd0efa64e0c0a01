//! A proxy before the database that loses connections without a word, as a router does.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use sqlx::postgres::PgConnectOptions;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::task::JoinSet;

/// Whether a connection goes silent with what its client sends.
type Condition = Box<dyn FnMut(&[u8]) -> bool + Send>;

/// Passes connections on, until one is to go silent: then nothing more goes either way, and neither side is told.
pub struct Proxy {
    address: SocketAddr,
    shared: Arc<Shared>,
    // Ends with the proxy, and every connection with it.
    _connections: JoinSet<()>,
}

struct Shared {
    to: PgConnectOptions,
    silence: Mutex<Condition>,
    silent: AtomicUsize,
}

impl Proxy {
    /// Before the database that `to` names.
    pub async fn start(to: PgConnectOptions) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("its address");
        let shared =
            Arc::new(Shared { to, silence: Mutex::new(Box::new(|_| false)), silent: AtomicUsize::new(0) });
        let mut connections = JoinSet::new();
        connections.spawn(accept(listener, shared.clone()));
        Self { address, shared, _connections: connections }
    }

    /// Its URL.
    pub fn url(&self) -> String {
        let to = &self.shared.to;
        let (user, database) = (to.get_username(), to.get_database().expect("a database"));
        format!("postgres://{user}@{}/{database}?sslmode=disable", self.address)
    }

    /// From now on, a connection whose client sends what fits goes silent, that message included.
    pub fn silence(&self, when: impl FnMut(&[u8]) -> bool + Send + 'static) {
        *self.shared.silence.lock().expect("no panic holds it") = Box::new(when);
    }

    /// How many connections went silent.
    pub fn silent(&self) -> usize {
        self.shared.silent.load(Ordering::SeqCst)
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    while let Ok((client, _)) = listener.accept().await {
        let shared = shared.clone();
        connections.spawn(async move {
            let to = &shared.to;
            let port = to.get_port();
            match to.get_socket() {
                Some(socket) => {
                    let path = socket.join(format!(".s.PGSQL.{port}"));
                    pass(client, UnixStream::connect(path).await.expect("the server"), &shared).await;
                }
                None => {
                    let server = TcpStream::connect((to.get_host(), port)).await.expect("the server");
                    pass(client, server, &shared).await;
                }
            }
        });
    }
}

/// Until either side ends, or for ever once it is silent.
async fn pass(client: TcpStream, server: impl AsyncRead + AsyncWrite, shared: &Shared) {
    let (mut from_client, mut to_client) = client.into_split();
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
        is_silent = there => is_silent,
        _ = tokio::io::copy(&mut from_server, &mut to_client) => false,
    };
    if is_silent {
        shared.silent.fetch_add(1, Ordering::SeqCst);
        std::future::pending::<()>().await;
    }
}
