//! A provider with a fixed latency and almost no load.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::Sandbox;

/// The number of different vectors. The texts of successive calls get different ones.
const VECTORS: usize = 4_096;

/// Serves OpenAI's embeddings API over HTTP/1.1. It answers any number of concurrent calls, each after the same time,
/// and records their texts. The vectors are formatted as JSON once, so that a benchmark waits for the latency and not
/// for the processor.
pub struct SlowProvider {
    address: SocketAddr,
    shared: Arc<Shared>,
    _server: JoinSet<()>,
}

struct Shared {
    latency: Duration,
    vectors: Vec<String>,
    asked: Mutex<Asked>,
}

#[derive(Default)]
struct Asked {
    calls: usize,
    texts: HashMap<String, u32>,
}

impl SlowProvider {
    /// The length of the vectors.
    pub const DIMENSIONS: usize = 8;

    /// Starts the provider on any free port of `host`.
    pub async fn start(host: &str, latency: Duration) -> Self {
        let listener = TcpListener::bind((host, 0)).await.expect("a free port");
        let address = listener.local_addr().expect("its address");
        let vectors = (0..VECTORS).map(vector).collect();
        let shared = Arc::new(Shared { latency, vectors, asked: Mutex::default() });
        let mut server = JoinSet::new();
        server.spawn({
            let shared = shared.clone();
            async move {
                let mut connections = JoinSet::new();
                while let Ok((stream, _)) = listener.accept().await {
                    connections.spawn(serve(stream, shared.clone()));
                    while connections.try_join_next().is_some() {}
                }
            }
        });
        Self { address, shared, _server: server }
    }

    /// Configures the programs of a sandbox to use this provider for embeddings.
    pub fn configure(&self, sandbox: Sandbox) -> Sandbox {
        sandbox
            .set("HTM_EMBEDDING__PROVIDER", "openai")
            .set("HTM_EMBEDDING__MODEL", "mock")
            .set("HTM_EMBEDDING__DIMENSIONS", &Self::DIMENSIONS.to_string())
            .set("HTM_OPENAI__BASE_URL", &format!("http://{}/v1", self.address))
            .set("HTM_OPENAI__API_KEY", "sk-test")
    }

    /// The number of calls so far.
    pub fn calls(&self) -> usize {
        self.shared.asked.lock().expect("no panic holds it").calls
    }

    /// The number of texts that were sent more than once.
    pub fn duplicates(&self) -> usize {
        let asked = self.shared.asked.lock().expect("no panic holds it");
        asked.texts.values().filter(|times| **times > 1).count()
    }
}

/// Serves a connection until either side ends it.
async fn serve(stream: TcpStream, shared: Arc<Shared>) {
    stream.set_nodelay(true).expect("an option of a socket");
    let mut stream = BufReader::new(stream);
    while let Ok(body) = request(&mut stream).await {
        let due = Instant::now() + shared.latency;
        let Some(answer) = shared.answer(&body) else { return };
        tokio::time::sleep_until(due).await;
        if stream.write_all(answer.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// Reads the body of the next request.
async fn request(stream: &mut BufReader<TcpStream>) -> std::io::Result<Vec<u8>> {
    let mut length = 0;
    let mut line = String::new();
    loop {
        line.clear();
        if stream.read_line(&mut line).await? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        match line.trim_end().split_once(':') {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                length = value.trim().parse().map_err(std::io::Error::other)?;
            }
            None if line.trim_end().is_empty() => break,
            _ => {}
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    Ok(body)
}

impl Shared {
    /// The answer to a request; none if it is not for embeddings.
    fn answer(&self, body: &[u8]) -> Option<String> {
        let mut body: Value = serde_json::from_slice(body).ok()?;
        let Value::Array(texts) = body["input"].take() else { return None };
        let count = texts.len();
        let first = {
            let mut asked = self.asked.lock().expect("no panic holds it");
            let first = asked.calls * count;
            asked.calls += 1;
            for text in texts {
                let Value::String(text) = text else { return None };
                *asked.texts.entry(text).or_default() += 1;
            }
            first
        };
        let mut json = String::from(r#"{"object":"list","model":"mock","data":["#);
        for index in 0..count {
            let comma = if index > 0 { "," } else { "" };
            let vector = &self.vectors[(first + index) % VECTORS];
            write!(json, r#"{comma}{{"object":"embedding","index":{index},"embedding":{vector}}}"#).ok()?;
        }
        json.push_str(r#"],"usage":{"prompt_tokens":1,"total_tokens":1}}"#);
        let length = json.len();
        Some(format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{json}"
        ))
    }
}

/// A vector as JSON.
fn vector(number: usize) -> String {
    let component = |place: usize| {
        let hash = (number * SlowProvider::DIMENSIONS + place + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (hash >> 40) as f64 / (1u64 << 24) as f64 - 0.5
    };
    let components: Vec<String> =
        (0..SlowProvider::DIMENSIONS).map(|place| format!("{:.4}", component(place))).collect();
    format!("[{}]", components.join(","))
}
