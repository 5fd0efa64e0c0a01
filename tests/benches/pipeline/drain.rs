//! A full queue worked off.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use htm_core::Stage;
use htm_core::job::Payload;
use htm_core::provider::{ModelName, Purpose};
use htm_core::worker::jobs::Embedded;
use htm_core::worker::{embeddings, jobs, queues, workers};
use htm_providers::fake::{self, FakeSettings};
use htm_tests::{Sandbox, SlowProvider, TestDatabase, wait_until};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::handlers::*;
use crate::{Effort, Report, Target};

pub(crate) async fn measure(report: &Report, effort: Effort) {
    for concurrency in [1, 2] {
        let floor = effort.median(async || raw(effort, concurrency).await).await;
        let ours = effort.median(async || noop(effort, concurrency).await).await;
        let what =
            format!("no-op jobs, {concurrency} at once, against claim + ack SQL in {concurrency} loops");
        report.ratio(&what, ours, floor, "jobs/s", Target::AtLeast(0.6));
    }
    for concurrency in [1, 2] {
        let ideal = (BATCH * concurrency) as f64 / LATENCY.as_secs_f64();
        let target = Target::AtLeast(0.9);
        let ours = effort.median(async || in_process(effort, concurrency).await).await;
        let what = format!("embeddings, {concurrency} calls of 50 ms at once, in this process");
        report.ratio(&what, ours, ideal, "jobs/s", target);
        let [ours, calls] = effort.medians(async || as_process(effort, concurrency).await).await;
        let what = format!("embeddings, {concurrency} calls of 50 ms at once, by embed-worker");
        report.ratio(&what, ours, ideal, "jobs/s", target);
        report.figure("  texts a call", calls, "texts", Target::Shown);
        let alone = effort.median(async || written(effort, concurrency).await).await;
        let what =
            format!("  what the database takes, no provider: claim + ack in {} loops", 2 * concurrency);
        report.figure(&what, alone, "jobs/s", Target::Shown);
    }
}

/// Claim and ack, nothing between.
async fn raw(effort: Effort, concurrency: usize) -> f64 {
    let db = TestDatabase::new().await;
    remember_many(&writer(&db.pool), effort.noops).await;
    settle(&db).await;
    let (queue, worker) = (Stage::Embed.queue(), "bench-floor");
    workers::register(&db.pool, queue, worker, "bench", 60_000).await.expect("registered");
    let started = Instant::now();
    let mut loops = JoinSet::new();
    for _ in 0..concurrency {
        let pool = db.pool.clone();
        loops.spawn(async move {
            while let Some((lease, claimed)) =
                jobs::claim(&pool, queue, "bench/noop", worker, BATCH).await.expect("claimed")
            {
                let ids: Vec<String> = claimed.into_iter().map(|job| job.id).collect();
                end(&pool, &lease, &ids).await.expect("ended");
            }
        });
    }
    loops.join_all().await;
    effort.noops as f64 / started.elapsed().as_secs_f64()
}

/// The worker's own loop, which also reads the texts and asks the governor.
async fn noop(effort: Effort, concurrency: usize) -> f64 {
    let db = TestDatabase::new().await;
    remember_many(&writer(&db.pool), effort.noops).await;
    settle(&db).await;
    let ended = Arc::new(Mutex::new(Instant::now()));
    let handler = Noop { ended: ended.clone() };
    let started = Instant::now();
    let stop = CancellationToken::new();
    let report = htm_worker::run(db.pool.clone(), handler, options(concurrency, true), stop).await;
    assert_eq!(report.expect("a clean stop").done, effort.noops as u64);
    let ended = *ended.lock().expect("no panic holds it");
    effort.noops as f64 / ended.duration_since(started).as_secs_f64()
}

/// Claim and the ack that writes vectors, nothing between: no provider, however fast, makes more of this database. As
/// many loops as a worker of this concurrency has batches in hand.
async fn written(effort: Effort, concurrency: usize) -> f64 {
    let db = TestDatabase::new().await;
    let jobs = BATCH * effort.calls * concurrency;
    let embedder =
        fake::embedder(FakeSettings { dimensions: 8, ..FakeSettings::default() }).expect("the fake");
    let model = embeddings::register_model(&db.pool, embedder.model(), 8).await.expect("registered");
    remember_many(&writer(&db.pool), jobs).await;
    settle(&db).await;
    let worker = "bench-floor";
    workers::register(&db.pool, model.queue.as_deref().unwrap(), worker, "bench", 60_000)
        .await
        .expect("registered");
    let started = Instant::now();
    let mut loops = JoinSet::new();
    for _ in 0..2 * concurrency {
        let (pool, model, embedder) = (db.pool.clone(), model.clone(), embedder.clone());
        loops.spawn(async move {
            let claim = || jobs::claim(&pool, model.queue.as_deref().unwrap(), &model.label, worker, BATCH);
            while let Some((lease, claimed)) = claim().await.expect("claimed") {
                let payloads: Vec<Payload> =
                    claimed.iter().map(|job| Payload::decode(&job.payload).expect("ours")).collect();
                let texts: Vec<String> =
                    payloads.iter().map(|payload| format!("memory number {}", payload.node)).collect();
                let vectors = embedder.embed(&texts, Purpose::Document).await.expect("embedded");
                let results: Vec<Embedded> = claimed
                    .into_iter()
                    .zip(payloads)
                    .zip(vectors)
                    .map(|((job, payload), embedding)| Embedded {
                        job: job.id,
                        node: payload.node,
                        revision: payload.revision,
                        embedding: embedding.vector,
                        parts: embedding.parts,
                    })
                    .collect();
                jobs::ack_embedded(&pool, &lease, &model, &results).await.expect("written");
            }
        });
    }
    loops.join_all().await;
    jobs as f64 / started.elapsed().as_secs_f64()
}

async fn in_process(effort: Effort, concurrency: usize) -> f64 {
    let db = TestDatabase::new().await;
    let jobs = BATCH * effort.calls * concurrency;
    let (handler, seen) = Watched::new(&db.pool, LATENCY).await;
    remember_many(&writer(&db.pool), jobs).await;
    settle(&db).await;
    let started = Instant::now();
    let stop = CancellationToken::new();
    let report = htm_worker::run(db.pool.clone(), handler, options(concurrency, true), stop).await;
    assert_eq!(report.expect("a clean stop").done, jobs as u64);
    let seen = seen.lock().expect("no panic holds it");
    let ended = seen.values().filter_map(|seen| seen.done).max().expect("some were done");
    jobs as f64 / ended.duration_since(started).as_secs_f64()
}

/// Jobs a second, and texts a call.
async fn as_process(effort: Effort, concurrency: usize) -> [f64; 2] {
    let db = TestDatabase::new().await;
    let jobs = BATCH * effort.calls * concurrency;
    let provider = SlowProvider::start("127.0.0.1", LATENCY).await;
    let sandbox = provider.configure(Sandbox::new(&db));
    let (batch, calls) = (BATCH.to_string(), concurrency.to_string());
    let _worker = sandbox.start("embed-worker", &["--batch", &batch, "--concurrency", &calls]);
    let listening = "select count(*) from pg_stat_activity
                      where datname = current_database() and query like 'LISTEN%' and state = 'idle'";
    wait_until(|| async { db.count(listening).await == 1 }).await;
    remember_many(&writer_for(&db.pool, ModelName::new("openai", "mock")), jobs).await;
    let started = Instant::now();
    let embed = Stage::Embed.queue();
    wait_until(|| async { queues::is_drained(&db.pool, embed).await.expect("the database answers") }).await;
    let took = started.elapsed().as_secs_f64();
    assert_eq!(provider.duplicates(), 0);
    [jobs as f64 / took, jobs as f64 / provider.calls() as f64]
}
