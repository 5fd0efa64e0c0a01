//! What HTTP and MCP add to the library: writes and recalls over the server, against the same calls of the library in
//! the same run.
//!
//! `./justw bench-rust --bench server -- --nodes 10000`; with `--load 60` also 200 clients that write and recall for a minute.
//! Server and clients share this process and its processors; the MCP server is a process, `htm mcp`. The rows "of a
//! tenant" are of a key with a namespace, which row-level security restricts; the library's calls beside them are
//! restricted by the same, but for those "without a wall".

#[path = "recall/corpus.rs"]
mod corpus;
#[path = "server/load.rs"]
mod mixed;
#[path = "server/stdio.rs"]
mod stdio;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use corpus::Corpus;
use htm_core::worker::statistics;
use htm_core::{Htm, Memory, NewApiKey, RecallQuery, Role, Settings, Strategy};
use htm_server::{Limits, Server};
use htm_tests::TestDatabase;
use htm_tests::measure::{Table, argument, load, median, percentile_ms};
use reqwest::header::{AUTHORIZATION, HeaderMap};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// Rounds of each measurement of writes. Those of the library and of HTTP alternate, so that other load meets both.
const ROUNDS: usize = 7;

/// The questions of each measurement of recall, and those before it that are not counted.
const QUESTIONS: (usize, usize) = (200, 20);

#[tokio::main]
async fn main() {
    let (nodes, writes, seconds) =
        (argument("--nodes", 10_000), argument("--writes", 200), argument("--load", 0));
    let db = TestDatabase::new().await;
    let corpus = Arc::new(Corpus::fill(&db.pool, nodes).await);
    let settings = Settings { embedding_model: corpus.model().clone(), ..db.htm().settings().clone() };
    let tenants = htm_core::pool_options().connect_lazy_with(htm_core::tenant_options(db.options()));
    let htm = Htm::with_pool(db.pool.clone(), settings, Some(corpus.clone())).with_tenants(tenants);
    let server = Server::bind(SocketAddr::from(([127, 0, 0, 1], 0)), htm.clone(), Limits::default());
    let server = server.await.expect("bound");
    let base = format!("http://{}", server.address());
    let stop = CancellationToken::new();
    let serving = tokio::spawn(server.serve(stop.clone()));
    let table = Table::new(&[("what", 36), ("clients", 7), ("library", 10), ("over", 10), ("", 9)]);
    println!("{nodes} memories, {}", load());

    let library = Call::Library(htm.clone());
    let open = Call::Http(reqwest::Client::new(), base.clone());
    recall(&table, "HTTP", &library, &open, &corpus).await;
    stdio::recall(&table, &db, &htm, &corpus).await;
    remember(&table, "HTTP: remember, a second", 1, writes, &library, &open).await;
    remember(&table, "HTTP: remember, a second", 16, writes, &library, &open).await;
    settle(&db).await;

    let created =
        htm.create_api_key(&NewApiKey::new(Role::Writer).namespace("default")).await.expect("a key");
    let authorization = format!("Bearer {}", created.secret.expose()).parse().expect("a header");
    let headers = HeaderMap::from_iter([(AUTHORIZATION, authorization)]);
    let http = reqwest::Client::builder().default_headers(headers).build().expect("a client");
    // Within a second the server asks for a key.
    tokio::time::sleep(Duration::from_secs(2)).await;
    let tenant = Call::Http(http.clone(), base.clone());
    let within = Call::Library(htm.within(["default"]).expect("a namespace"));
    recall(&table, "of a tenant", &within, &tenant, &corpus).await;
    remember(&table, "of a tenant: remember, a second", 16, writes, &within, &tenant).await;
    remember(&table, "of a tenant; library without a wall", 16, writes, &library, &tenant).await;

    if seconds > 0 {
        settle(&db).await;
        mixed::run(&http, &base, &db, &corpus, Duration::from_secs(seconds)).await;
    }
    stop.cancel();
    serving.await.expect("stopped");
}

/// Does what workers and autovacuum do after many writes.
async fn settle(db: &TestDatabase) {
    statistics::refresh(&db.pool, "default").await.expect("refreshed");
    sqlx::raw_sql("vacuum analyze").execute(&db.pool).await.expect("vacuumed");
}

/// A row about writes.
async fn remember(table: &Table, what: &str, clients: usize, writes: usize, library: &Call, over: &Call) {
    let mut per_second = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        per_second.0.push(rate(clients, writes, library).await);
        per_second.1.push(rate(clients, writes, over).await);
    }
    let (library, over) = (median(per_second.0), median(per_second.1));
    let ratio = format!("{:.2}", over / library);
    table.row([what.into(), clients.to_string(), format!("{library:.0}"), format!("{over:.0}"), ratio]);
}

/// Two rows about recalls.
async fn recall(table: &Table, what: &str, library: &Call, over: &Call, corpus: &Corpus) {
    for strategy in [Strategy::Fulltext, Strategy::Hybrid] {
        let mut times = (Vec::new(), Vec::new());
        for round in 0..QUESTIONS.0 + QUESTIONS.1 {
            let question = corpus.question(round);
            let first = library.recall(&question, strategy).await;
            let second = over.recall(&question, strategy).await;
            if round >= QUESTIONS.1 {
                times.0.push(first);
                times.1.push(second);
            }
        }
        row_of_times(table, &format!("{what}: recall, {strategy}"), &times.0, &times.1);
    }
}

/// A row about the times of calls.
fn row_of_times(table: &Table, what: &str, library: &[Duration], over: &[Duration]) {
    for share in [0.5, 0.99] {
        let (library, over) = (percentile_ms(library, share), percentile_ms(over, share));
        let what = format!("{what}, p{:.0} ms", share * 100.0);
        let more = format!("{:+.2} ms", over - library);
        table.row([what, "1".into(), format!("{library:.2}"), format!("{over:.2}"), more]);
    }
}

/// A way to remember and to recall.
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

    /// The time of a recall of ten memories.
    async fn recall(&self, question: &str, strategy: Strategy) -> Duration {
        let started = Instant::now();
        match self {
            Self::Library(htm) => {
                let asked = RecallQuery { strategy, ..RecallQuery::new(question).limit(10) };
                drop(htm.recall(&asked).await.expect("recalled"));
            }
            Self::Http(http, base) => {
                let body = json!({"query": question, "limit": 10, "strategy": strategy.to_string()});
                post(http, &format!("{base}/v1/recall"), &body).await;
            }
        }
        started.elapsed()
    }
}

async fn post(http: &reqwest::Client, url: &str, body: &Value) -> Value {
    let response = http.post(url).json(body).send().await.expect("answered");
    let status = response.status();
    let body = response.text().await.expect("a body");
    assert!(status.is_success(), "{status}: {body}");
    serde_json::from_str(&body).expect("JSON")
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
    (clients * writes) as f64 / started.elapsed().as_secs_f64()
}

/// No two are the same: another memory of the same text would not be a node.
fn text() -> String {
    static TEXTS: AtomicUsize = AtomicUsize::new(0);
    let number = TEXTS.fetch_add(1, Ordering::Relaxed);
    format!("Note {number}: the deployment of service {} waited for review until evening.", number % 97)
}
