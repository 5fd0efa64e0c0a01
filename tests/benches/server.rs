//! What HTTP adds to the library: writes and recalls over the server, against the same calls of the library in the same
//! run.
//!
//! `./justw bench --bench server -- --nodes 10000`. Server and clients share this process and its processors.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use htm_core::{Htm, Memory, RecallQuery, Strategy};
use htm_server::{Limits, Server};
use htm_tests::TestDatabase;
use htm_tests::measure::{Table, argument, load, median, percentile_ms};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// Rounds of each measurement. Those of the library and of HTTP alternate, so that other load meets both.
const ROUNDS: usize = 5;

#[tokio::main]
async fn main() {
    let (nodes, writes) = (argument("--nodes", 10_000), argument("--writes", 200));
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let memories: Vec<Memory> = (0..nodes).map(|_| Memory::new(text())).collect();
    for part in memories.chunks(5_000) {
        htm.remember_many(part).await.expect("written");
    }
    sqlx::raw_sql("vacuum analyze").execute(&db.pool).await.expect("analysed");
    let server = Server::bind(
        "127.0.0.1:0".parse::<std::net::SocketAddr>().expect("an address"),
        htm.clone(),
        Limits::default(),
    );
    let server = server.await.expect("bound");
    let base = format!("http://{}", server.address());
    let stop = CancellationToken::new();
    let serving = tokio::spawn(server.serve(stop.clone()));
    let http = reqwest::Client::new();
    println!("{nodes} memories, {}", load());
    let table = Table::new(&[("what", 28), ("clients", 7), ("library", 10), ("http", 10), ("ratio", 8)]);
    for clients in [1, 16] {
        let mut per_second = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            per_second.0.push(rate(clients, writes, &Call::Library(htm.clone())).await);
            per_second.1.push(rate(clients, writes, &Call::Http(http.clone(), base.clone())).await);
        }
        let (library, over) = (median(per_second.0), median(per_second.1));
        table.row([
            "remember, a second".into(),
            clients.to_string(),
            format!("{library:.0}"),
            format!("{over:.0}"),
            format!("{:.2}", over / library),
        ]);
    }
    for query in ["note 4242", "service 42 until evening"] {
        let (mut library, mut over) = (Vec::new(), Vec::new());
        for _ in 0..100 {
            let started = Instant::now();
            let asked = RecallQuery { strategy: Strategy::Fulltext, ..RecallQuery::new(query).limit(10) };
            htm.recall(&asked).await.expect("recalled");
            library.push(started.elapsed());
            let started = Instant::now();
            let body = json!({"query": query, "limit": 10, "strategy": "fulltext"});
            post(&http, &format!("{base}/v1/recall"), &body).await;
            over.push(started.elapsed());
        }
        for share in [0.5, 0.99] {
            let (library, over) = (percentile_ms(&library, share), percentile_ms(&over, share));
            table.row([
                format!("recall of {} words, p{:.0} ms", query.split(' ').count(), share * 100.0),
                "1".into(),
                format!("{library:.2}"),
                format!("{over:.2}"),
                format!("{:+.2} ms", over - library),
            ]);
        }
    }
    stop.cancel();
    serving.await.expect("stopped");
}

/// A way to remember.
#[derive(Clone)]
enum Call {
    Library(Htm),
    Http(reqwest::Client, String),
}

impl Call {
    async fn remember(&self, text: String) {
        match self {
            Self::Library(htm) => drop(htm.remember(Memory::new(text)).await.expect("written")),
            Self::Http(http, base) => {
                post(http, &format!("{base}/v1/memories"), &json!({"content": text})).await;
            }
        }
    }
}

async fn post(http: &reqwest::Client, url: &str, body: &Value) -> Value {
    let response = http.post(url).json(body).send().await.expect("answered");
    assert!(response.status().is_success(), "{}", response.status());
    response.json().await.expect("JSON")
}

/// The writes a second of some clients at once.
async fn rate(clients: usize, writes: usize, call: &Call) -> f64 {
    let started = Instant::now();
    let call = Arc::new(call.clone());
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..clients {
        let call = call.clone();
        tasks.spawn(async move {
            for _ in 0..writes {
                call.remember(text()).await;
            }
        });
    }
    tasks.join_all().await;
    let took: Duration = started.elapsed();
    (clients * writes) as f64 / took.as_secs_f64()
}

/// No two are the same: another memory of the same text would not be a node.
fn text() -> String {
    static TEXTS: AtomicUsize = AtomicUsize::new(0);
    let number = TEXTS.fetch_add(1, Ordering::Relaxed);
    format!("Note {number}: the deployment of service {} waited for review until evening.", number % 97)
}
