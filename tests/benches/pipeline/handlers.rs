//! Handlers that do nothing, or watch one that does.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use embed_worker::EmbedHandler;
use htm_core::provider::{Calls, Embedding, ModelName};
use htm_core::worker::jobs::{Claimed, Lease};
use htm_core::{Htm, Memory, NodeId, Settings, Stage};
use htm_providers::fake::{self, FakeSettings};
use htm_tests::TestDatabase;
use htm_worker::{Handler, Item, Kind, Options, Subjects, Text, WorkError, texts};
use sqlx::PgPool;

/// Texts a call, and jobs a claim.
pub(crate) const BATCH: usize = 64;
/// Of a provider whose calls are what the worker should wait for.
pub(crate) const LATENCY: Duration = Duration::from_millis(50);

/// Ends jobs and writes nothing; how many were still held.
pub(crate) async fn end(pool: &PgPool, lease: &Lease, jobs: &[String]) -> htm_core::Result<usize> {
    let ended = sqlx::query(
        "update apalis.jobs set status = 'Done', done_at = now(), lock_by = null, lock_at = null
          where id = any ($3) and status = 'Running' and lock_by = $1 and lock_at = $2",
    )
    .bind(&lease.worker)
    .bind(lease.claimed_at)
    .bind(jobs)
    .execute(pool)
    .await?;
    Ok(ended.rows_affected() as usize)
}

/// Returns at once; its ack ends the jobs and writes nothing.
pub(crate) struct Noop {
    /// When the last jobs ended.
    pub(crate) ended: Arc<Mutex<Instant>>,
}

#[async_trait]
impl Handler for Noop {
    type Subject = Text;
    type Output = ();

    fn kind(&self) -> Kind {
        Kind::Stage(Stage::Embed)
    }

    fn model(&self) -> Option<String> {
        Some("bench/noop".into())
    }

    async fn read(&self, pool: &PgPool, jobs: &[Claimed]) -> htm_core::Result<Subjects<Text>> {
        texts(pool, jobs).await
    }

    async fn work(&self, items: &[Item], _calls: &dyn Calls) -> Result<Vec<()>, WorkError> {
        Ok(vec![(); items.len()])
    }

    async fn ack(&self, pool: &PgPool, lease: &Lease, results: &[(Item, ())]) -> htm_core::Result<usize> {
        let ids: Vec<String> = results.iter().map(|(item, ())| item.job.clone()).collect();
        let ended = end(pool, lease, &ids).await;
        *self.ended.lock().expect("no panic holds it") = Instant::now();
        ended
    }
}

/// When what happened to a node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    pub(crate) begun: Instant,
    pub(crate) done: Option<Instant>,
}

pub(crate) type Sightings = Arc<Mutex<HashMap<NodeId, Seen>>>;

/// Embeds with the fake provider, and notes when.
pub(crate) struct Watched {
    inner: EmbedHandler,
    seen: Sightings,
}

impl Watched {
    pub(crate) async fn new(pool: &PgPool, latency: Duration) -> (Self, Sightings) {
        let seen = Sightings::default();
        let settings = FakeSettings { dimensions: 8, latency, ..FakeSettings::default() };
        let embedder = fake::embedder(settings).expect("the fake embedder");
        let inner = EmbedHandler::register(pool, embedder).await.expect("registered");
        (Self { inner, seen: seen.clone() }, seen)
    }
}

#[async_trait]
impl Handler for Watched {
    type Subject = Text;
    type Output = Embedding;

    fn kind(&self) -> Kind {
        self.inner.kind()
    }

    fn queue(&self) -> String {
        self.inner.queue()
    }

    fn model(&self) -> Option<String> {
        self.inner.model()
    }

    async fn read(&self, pool: &PgPool, jobs: &[Claimed]) -> htm_core::Result<Subjects<Text>> {
        self.inner.read(pool, jobs).await
    }

    async fn work(&self, items: &[Item], calls: &dyn Calls) -> Result<Vec<Embedding>, WorkError> {
        let begun = Instant::now();
        self.seen
            .lock()
            .expect("no panic holds it")
            .extend(items.iter().map(|item| (item.subject.node, Seen { begun, done: None })));
        self.inner.work(items, calls).await
    }

    async fn ack(
        &self,
        pool: &PgPool,
        lease: &Lease,
        results: &[(Item, Embedding)],
    ) -> htm_core::Result<usize> {
        let acked = self.inner.ack(pool, lease, results).await;
        let now = Instant::now();
        let mut seen = self.seen.lock().expect("no panic holds it");
        for (item, _) in results {
            if let Some(seen) = seen.get_mut(&item.subject.node) {
                seen.done = Some(now);
            }
        }
        acked
    }
}

/// The defaults of `config/default.toml`, where they matter here.
pub(crate) fn options(concurrency: usize, drain: bool) -> Options {
    Options {
        batch: BATCH,
        concurrency,
        poll: Duration::from_millis(1_000),
        sweep: Duration::from_millis(5_000),
        call_deadline: Duration::from_secs(30),
        ..htm_tests::worker_options(drain)
    }
}

/// Writes for the model of [`Watched`].
pub(crate) fn writer(pool: &PgPool) -> Htm {
    writer_for(pool, ModelName::new("fake", "bag-of-words"))
}

pub(crate) fn writer_for(pool: &PgPool, model: ModelName) -> Htm {
    let settings =
        Settings { embedding_model: model, tag_model: ModelName::new("fake", "tags"), ..Settings::default() };
    Htm::with_pool(pool.clone(), settings, None)
}

/// Writes memories in one commit.
pub(crate) async fn remember_many(htm: &Htm, count: usize) {
    let run = ulid::Ulid::new(); // another memory of the same text would not be a node
    let memories: Vec<Memory> =
        (0..count).map(|n| Memory::new(format!("memory number {n} of benchmark {run}"))).collect();
    for receipt in htm.remember_many(&memories).await.expect("written") {
        receipt.expect("written");
    }
}

/// As autovacuum would have it after a while; else what is measured depends on when it comes.
pub(crate) async fn settle(db: &TestDatabase) {
    sqlx::raw_sql("vacuum analyze apalis.jobs; ").execute(&db.pool).await.expect("vacuumed");
    sqlx::raw_sql("vacuum analyze htm.nodes").execute(&db.pool).await.expect("vacuumed");
}
