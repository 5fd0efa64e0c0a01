//! What the faults are played on: a provider that obeys, workers beside it, and looks at what came of it.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use htm_core::provider::ModelName;
use htm_core::worker::{queues, workers};
use htm_core::{Htm, Memory, NodeId, Settings, Stage};
use htm_tests::{Running, Sandbox, wait_until};
use serde_json::{Value, json};
use sqlx::PgPool;
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate};

pub(crate) const DIMENSIONS: usize = 8;

/// An embedding provider that speaks OpenAI's API and does what the test says.
pub(crate) struct Provider {
    server: MockServer,
    calls: Arc<Mutex<Vec<Call>>>,
    behaviour: Arc<Mutex<Behaviour>>,
}

/// A call that came in.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) at: Instant,
    pub(crate) texts: Vec<String>,
}

/// From the texts of a call, and how many calls there were before, to the answer.
pub(crate) type Behaviour = Box<dyn Fn(&[String], usize) -> ResponseTemplate + Send>;

struct Actor {
    calls: Arc<Mutex<Vec<Call>>>,
    behaviour: Arc<Mutex<Behaviour>>,
}

impl Respond for Actor {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let body: Value = request.body_json().unwrap();
        let texts: Vec<String> =
            body["input"].as_array().unwrap().iter().map(|text| text.as_str().unwrap().into()).collect();
        let before = {
            let mut calls = self.calls.lock().unwrap();
            calls.push(Call { at: Instant::now(), texts: texts.clone() });
            calls.len() - 1
        };
        self.behaviour.lock().unwrap()(&texts, before)
    }
}

impl Provider {
    pub(crate) async fn new(
        behaviour: impl Fn(&[String], usize) -> ResponseTemplate + Send + 'static,
    ) -> Self {
        let server = MockServer::start().await;
        let calls = Arc::new(Mutex::new(Vec::new()));
        let behaviour: Arc<Mutex<Behaviour>> = Arc::new(Mutex::new(Box::new(behaviour)));
        let actor = Actor { calls: calls.clone(), behaviour: behaviour.clone() };
        Mock::given(wiremock::matchers::any()).respond_with(actor).mount(&server).await;
        Self { server, calls, behaviour }
    }

    pub(crate) fn calls(&self) -> Vec<Call> {
        self.calls.lock().unwrap().clone()
    }

    /// From now on it behaves so.
    pub(crate) fn becomes(&self, behaviour: impl Fn(&[String], usize) -> ResponseTemplate + Send + 'static) {
        *self.behaviour.lock().unwrap() = Box::new(behaviour);
    }

    /// Programs ask this provider for embeddings, are quick to poll and to give up a lease.
    pub(crate) fn sandbox(&self, url: &str) -> Sandbox {
        impatient(url)
            .set("HTM_EMBEDDING__PROVIDER", "openai")
            .set("HTM_EMBEDDING__MODEL", "mock")
            .set("HTM_EMBEDDING__DIMENSIONS", &DIMENSIONS.to_string())
            .set("HTM_OPENAI__BASE_URL", &format!("{}/v1", self.server.uri()))
            .set("HTM_OPENAI__API_KEY", "sk-test")
    }
}

/// A dead worker's jobs are back within a second or so; the fake providers.
pub(crate) fn impatient(url: &str) -> Sandbox {
    Sandbox::on(url)
        .set("HTM_JOBS__LEASE_MS", "1000")
        .set("HTM_JOBS__POLL_MS", "50")
        .set("HTM_SHORT_WAITS", "true")
}

/// The right answer.
pub(crate) fn vectors(texts: &[String]) -> ResponseTemplate {
    answer(vectors_of(texts))
}

/// Each text's place and vector.
pub(crate) fn vectors_of(texts: &[String]) -> Vec<(usize, Value)> {
    texts.iter().enumerate().map(|(index, text)| (index, json!(vector(text)))).collect()
}

/// The documented shape around these vectors.
pub(crate) fn answer(vectors: Vec<(usize, Value)>) -> ResponseTemplate {
    let data: Vec<Value> = vectors
        .into_iter()
        .map(|(index, vector)| json!({ "object": "embedding", "index": index, "embedding": vector }))
        .collect();
    ResponseTemplate::new(200).set_body_json(json!({
        "object": "list", "data": data, "model": "mock", "usage": { "prompt_tokens": 1, "total_tokens": 1 },
    }))
}

/// The documented error.
pub(crate) fn refusal(status: u16, code: &str, message: &str) -> ResponseTemplate {
    ResponseTemplate::new(status).set_body_json(json!({
        "error": { "message": message, "type": "x", "param": null, "code": code },
    }))
}

/// A vector that only this text has.
fn vector(text: &str) -> Vec<f32> {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    (0..DIMENSIONS)
        .map(|place| {
            for byte in text.bytes().chain([place as u8]) {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
            (hash >> 40) as f32 / (1u64 << 24) as f32 - 0.5
        })
        .collect()
}

/// A handle that only writes.
pub(crate) fn writer(pool: &PgPool) -> Htm {
    let model = ModelName::new("openai", "mock");
    let settings =
        Settings { embedding_model: model, tag_model: ModelName::new("fake", "tags"), ..Settings::default() };
    Htm::with_pool(pool.clone(), settings, None)
}

/// Remembers `count` texts.
pub(crate) async fn remember(pool: &PgPool, label: &str, count: usize) -> Vec<NodeId> {
    let memories: Vec<Memory> = (0..count).map(|n| Memory::new(format!("{label} {n}"))).collect();
    let receipts = writer(pool).remember_many(&memories).await.unwrap();
    receipts.into_iter().map(|receipt| receipt.unwrap().node).collect()
}

pub(crate) async fn depth(pool: &PgPool, stage: Stage) -> queues::QueueDepth {
    queues::depth(pool, stage.queue()).await.unwrap()
}

/// Waits until a queue has nothing open. Panics when nothing is done for a minute.
pub(crate) async fn until_done(pool: &PgPool, stage: Stage) {
    let mut open = i64::MAX;
    while open > 0 {
        let before = open;
        wait_until(|| async { depth(pool, stage).await.open() < before }).await;
        open = depth(pool, stage).await.open();
    }
}

/// The identity of a worker that this process runs, once it is registered.
pub(crate) async fn identity(pool: &PgPool, worker: &Running) -> String {
    let infix = format!("-worker-{}-", worker.pid);
    let find = || async {
        let all = workers::list(pool).await.unwrap();
        all.into_iter().map(|worker| worker.id).find(|id| id.contains(&infix))
    };
    wait_until(|| async { find().await.is_some() }).await;
    find().await.unwrap()
}

/// How many jobs stand in a worker's name.
pub(crate) async fn held(pool: &PgPool, worker: &str) -> i64 {
    sqlx::query_scalar("select count(*) from apalis.jobs where lock_by = $1")
        .bind(worker)
        .fetch_one(pool)
        .await
        .unwrap()
}

pub(crate) async fn number(pool: &PgPool, sql: &'static str) -> i64 {
    sqlx::query_scalar(sql).fetch_one(pool).await.unwrap()
}

/// Everything that the workers have made, by content: the same for the same texts, whatever happened on the way.
pub(crate) async fn outcome(pool: &PgPool) -> String {
    sqlx::query_scalar(
        "select md5(string_agg(n.content || coalesce(e.embedding::text, '-') || coalesce(t.tags, '-'), '|'
                               order by n.content))
           from htm.nodes n
           left join htm.embeddings_1 e on e.node_id = n.id and e.revision = n.revision
           left join lateral (select string_agg(path, ',' order by path) as tags
                                from htm.node_tags nt join htm.tags on tags.id = nt.tag_id
                               where nt.node_id = n.id) t on true
          where n.deleted_at is null",
    )
    .fetch_one(pool)
    .await
    .unwrap()
}

/// Each live node has its one vector and its one completion a stage, and the audit finds nothing.
pub(crate) async fn assert_complete(sandbox: &Sandbox, pool: &PgPool, stages: &[Stage]) {
    let nodes = number(pool, "select count(*) from htm.nodes where deleted_at is null").await;
    for stage in stages {
        let completions: (i64, i64) = sqlx::query_as(
            "select count(*), count(distinct node_id) from htm.completions c
              where stage = $1 and exists (select from htm.nodes n where n.id = c.node_id and n.deleted_at is null
                                                                     and n.revision = c.revision)",
        )
        .bind(stage.as_ref())
        .fetch_one(pool)
        .await
        .unwrap();
        assert_eq!(completions, (nodes, nodes), "{stage}");
    }
    let embedded = number(
        pool,
        "select count(*) from htm.nodes n join htm.embeddings_1 e on e.node_id = n.id and e.revision = n.revision
          where n.deleted_at is null",
    );
    assert_eq!(embedded.await, nodes);
    assert_audited(sandbox).await;
}

pub(crate) async fn assert_audited(sandbox: &Sandbox) {
    let answer = sandbox.htm(&["jobs", "audit"]).await;
    assert!(answer.succeeds().starts_with("0 stranded"), "{answer:?}");
}

/// How long the endless tests go on; `./justw soak` sets more.
pub(crate) fn fault_time() -> Duration {
    let seconds = std::env::var("HTM_FAULT_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(20);
    Duration::from_secs(seconds)
}
