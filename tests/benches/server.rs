//! What HTTP adds to the library: writes and recalls over the server, against the same calls of the library in the same
//! run.
//!
//! `./justw bench --bench server -- --nodes 10000`; with `--load 60` also 200 clients that write and recall for a minute.
//! Server and clients share this process and its processors. The row "of a tenant" is of a key with a namespace, which
//! row-level security restricts.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use htm_core::{Htm, Memory, NewApiKey, RecallQuery, Role, Strategy};
use htm_server::{Limits, Server};
use htm_tests::TestDatabase;
use htm_tests::measure::{Table, argument, load, median, percentile_ms};
use reqwest::header::{AUTHORIZATION, HeaderMap};
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
    let created =
        htm.create_api_key(&NewApiKey::new(Role::Writer).namespace("default")).await.expect("a key");
    let authorization = format!("Bearer {}", created.secret.expose()).parse().expect("a header");
    let headers = HeaderMap::from_iter([(AUTHORIZATION, authorization)]);
    let http = reqwest::Client::builder().default_headers(headers).build().expect("a client");
    // Within a second the server asks for a key.
    tokio::time::sleep(Duration::from_secs(2)).await;
    let mut per_second = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        per_second.0.push(rate(16, writes, &Call::Library(htm.clone())).await);
        per_second.1.push(rate(16, writes, &Call::Http(http.clone(), base.clone())).await);
    }
    let (library, over) = (median(per_second.0), median(per_second.1));
    table.row([
        "remember, of a tenant".into(),
        "16".into(),
        format!("{library:.0}"),
        format!("{over:.0}"),
        format!("{:.2}", over / library),
    ]);
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
    let seconds: u64 = argument("--load", 0);
    if seconds > 0 {
        mixed(&http, &base, &db, Duration::from_secs(seconds)).await;
    }
    stop.cancel();
    serving.await.expect("stopped");
}

/// The clients of the mixed load.
const CLIENTS: usize = 200;

/// Clients that each write a memory and recall it by its number, in turn. Every answer has to be a success, and what was
/// acknowledged has to be there.
async fn mixed(http: &reqwest::Client, base: &str, db: &TestDatabase, time: Duration) {
    let started = Instant::now();
    let mut clients = tokio::task::JoinSet::new();
    for _ in 0..CLIENTS {
        let (http, base) = (http.clone(), base.to_owned());
        clients.spawn(async move {
            let (mut nodes, mut writes, mut recalls) = (Vec::new(), Vec::new(), Vec::new());
            while started.elapsed() < time {
                let text = text();
                let at = Instant::now();
                let written = post(&http, &format!("{base}/v1/memories"), &json!({"content": text})).await;
                writes.push(at.elapsed());
                nodes.push(written["node"].as_i64().expect("a node"));
                let at = Instant::now();
                let query = text.split(':').next().unwrap_or_default();
                let body = json!({"query": query, "limit": 5, "strategy": "fulltext"});
                post(&http, &format!("{base}/v1/recall"), &body).await;
                recalls.push(at.elapsed());
            }
            (nodes, writes, recalls)
        });
    }
    let (mut nodes, mut writes, mut recalls) = (Vec::new(), Vec::new(), Vec::new());
    for of_client in clients.join_all().await {
        nodes.extend(of_client.0);
        writes.extend(of_client.1);
        recalls.extend(of_client.2);
    }
    let there: i64 =
        sqlx::query_scalar("select count(*) from htm.nodes where id = any ($1) and deleted_at is null")
            .bind(&nodes)
            .fetch_one(&db.pool)
            .await
            .expect("a count");
    let seconds = started.elapsed().as_secs_f64();
    println!(
        "\n{CLIENTS} clients for {seconds:.0} s, {}: {} acknowledged, {there} there, no error",
        load(),
        nodes.len()
    );
    let table = Table::new(&[("what", 10), ("a second", 8), ("p50 ms", 8), ("p99 ms", 8)]);
    for (what, times) in [("remember", writes), ("recall", recalls)] {
        let ms = |share| format!("{:.1}", percentile_ms(&times, share));
        table.row([what.into(), format!("{:.0}", times.len() as f64 / seconds), ms(0.5), ms(0.99)]);
    }
    assert_eq!(there as usize, nodes.len(), "acknowledged memories are lost");
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
