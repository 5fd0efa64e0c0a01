//! Rejected texts: one that is bad, and a provider that rejects every text.

use std::sync::Arc;

use htm_core::provider::Embedder;
use htm_core::worker::queues;
use htm_core::{Memory, Stage};
use htm_providers::fake::{FakeEmbedder, FakeTagger};
use htm_tests::{TestDatabase, drain, wait_until, worker_options};
use htm_worker::Handler;
use tokio_util::sync::CancellationToken;

/// Every text has this in it.
const IN_EVERY_TEXT: &str = "";

async fn remember(db: &TestDatabase, texts: &[&str]) {
    let memories: Vec<Memory> = texts.iter().map(|text| Memory::new(*text)).collect();
    db.htm().remember_many(&memories).await.unwrap();
}

/// Runs a worker until its provider has been called so often.
async fn run_until<H: Handler>(db: &TestDatabase, handler: H, calls: impl Fn() -> u64, enough: u64) {
    let stop = CancellationToken::new();
    let worker = tokio::spawn(htm_worker::run(db.pool.clone(), handler, worker_options(false), stop.clone()));
    wait_until(|| async { calls() >= enough }).await;
    stop.cancel();
    worker.await.unwrap().unwrap();
}

/// The dead letters of a stage, the jobs that wait without an attempt, and those that say that every text is rejected.
async fn ends(db: &TestDatabase, stage: Stage) -> (i64, i64, i64) {
    sqlx::query_as(
        "select count(*) filter (where status = 'Killed'),
                count(*) filter (where status = 'Pending' and attempts = 0),
                count(*) filter (where last_result ->> 'Err' like 'provider_refused_all: %')
           from apalis.jobs where job_type = $1",
    )
    .bind(stage.queue())
    .fetch_one(&db.pool)
    .await
    .unwrap()
}

#[tokio::test]
async fn a_tagger_that_rejects_every_text_makes_no_dead_letters() {
    let db = TestDatabase::new().await;
    remember(&db, &["one", "two", "three", "four", "five"]).await;
    let tagger = Arc::new(FakeTagger::default().refusing(IN_EVERY_TEXT));
    let handler = tag_worker::TagHandler::new(db.pool.clone(), tagger.clone());
    // Five texts, two, one, a harmless one; then trials of a text and a harmless one.
    run_until(&db, handler, || tagger.calls(), 10).await;
    let (dead, waiting, told) = ends(&db, Stage::Tag).await;
    assert_eq!((dead, waiting), (0, 5));
    assert!(told > 0);
    // A worker with other settings ends the hold.
    assert_eq!(drain(&db, Stage::Tag).await.done, 5);
    assert_eq!(queues::count_stranded(&db.pool).await.unwrap(), 0);
}

#[tokio::test]
async fn a_job_that_was_put_back_is_a_dead_letter_when_its_text_alone_is_rejected() {
    let db = TestDatabase::new().await;
    remember(&db, &["good", "poison"]).await;
    let register = async |embedder: Arc<FakeEmbedder>| {
        embed_worker::EmbedHandler::register(&db.pool, embedder as Arc<dyn Embedder>).await.unwrap()
    };
    let rejecting = Arc::new(FakeEmbedder::default().refusing(IN_EVERY_TEXT));
    run_until(&db, register(rejecting.clone()).await, || rejecting.calls(), 6).await;
    let (dead, waiting, _) = ends(&db, Stage::Embed).await;
    assert_eq!((dead, waiting), (0, 2));
    let mended = register(Arc::new(FakeEmbedder::default().refusing("poison"))).await;
    let report = htm_worker::run(db.pool.clone(), mended, worker_options(true), CancellationToken::new())
        .await
        .unwrap();
    assert_eq!(report.done, 1);
    assert_eq!(ends(&db, Stage::Embed).await.0, 1);
    let breaker: String = sqlx::query_scalar("select breaker from htm.providers where model like 'fake/%'")
        .fetch_one(&db.pool)
        .await
        .unwrap();
    assert_eq!(breaker, "closed");
}
