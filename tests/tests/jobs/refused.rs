//! Results that the database refuses.

use std::sync::atomic::Ordering;

use htm_core::provider::ModelName;
use htm_core::worker::claims::{Claims, Wanted};
use htm_core::worker::{queues, workers};
use htm_core::{Htm, Memory, Stage, StageState};
use htm_tests::{Sandbox, TestDatabase, wait_until, worker_options};
use tokio_util::sync::CancellationToken;

use super::{Behaviour, Scripted};

/// Every completion is refused as on a disk that is full.
const FULL: &str = "
    create function public.refuse() returns trigger language plpgsql as $$ begin
        raise 'could not extend file \"base/5/16384\": No space left on device' using errcode = 'disk_full';
    end $$;
    create trigger refuse before insert on htm.completions for each row execute function public.refuse()";

#[tokio::test]
async fn a_full_disk_holds_the_queue_charges_nothing_and_costs_no_second_call() {
    let db = TestDatabase::new().await;
    let mut settings = db.htm().settings().clone();
    settings.max_attempts = 1;
    let htm = Htm::with_pool(db.pool.clone(), settings, None);
    let texts: Vec<Memory> = (0..10).map(|n| Memory::new(format!("text {n}"))).collect();
    htm.remember_many(&texts).await.unwrap();
    sqlx::raw_sql(FULL).execute(&db.pool).await.unwrap();
    let handler = Scripted::new(&db, Behaviour::Succeed).await;
    let calls = handler.calls.clone();
    let stop = CancellationToken::new();
    let worker = tokio::spawn(htm_worker::run(db.pool.clone(), handler, worker_options(false), stop.clone()));

    let refused = || async {
        let stats = queues::stats(&db.pool, "fake/tags").await.unwrap();
        stats.into_iter().find(|queue| queue.queue == "htm.embed").and_then(|queue| queue.refused)
    };
    wait_until(|| async { refused().await.is_some() }).await;
    let reason = refused().await.unwrap();
    assert!(reason.starts_with("database_exhausted: "), "{reason}");
    assert!(reason.contains("No space left on device"), "{reason}");
    let sandbox = Sandbox::new(&db);
    for arguments in [&["jobs", "stats"][..], &["doctor"]] {
        let answer = sandbox.htm(arguments).await;
        assert!(answer.stdout.contains("database_exhausted"), "{answer:?}");
    }
    // What comes now waits: it would only be made, not written.
    let late = htm.remember(Memory::new("late")).await.unwrap().node;
    workers::register(&db.pool, "htm.embed", "other", "test", 30_000).await.unwrap();
    let mut claims = Claims::new("htm.embed", Some("fake/scripted"), "other");
    let claimed = claims.next(&db.pool, 1, Wanted::Any).await.unwrap();
    assert!(claimed.is_none(), "{claimed:?}");

    sqlx::raw_sql("drop trigger refuse on htm.completions").execute(&db.pool).await.unwrap();
    htm.wait_for(late, Stage::Embed, std::time::Duration::from_secs(60)).await.unwrap();
    wait_until(|| async { refused().await.is_none() }).await;
    stop.cancel();
    let report = worker.await.unwrap().unwrap();
    assert_eq!((report.done, report.failed, calls.load(Ordering::SeqCst)), (11, 0, 2));
    assert_eq!(db.count("select max(attempt)::bigint from htm.completions").await, 1);
}

#[tokio::test]
async fn a_result_that_is_refused_is_paid_for_once_and_its_dead_letter_says_why() {
    let db = TestDatabase::new().await;
    let mut settings = db.htm().settings().clone();
    settings.max_attempts = 4;
    let htm = Htm::with_pool(db.pool.clone(), settings, None);
    db.htm().providers().unwrap().set_budget("default", Some(1_000)).await.unwrap();
    let node = htm.remember(Memory::new("spoilt beyond repair")).await.unwrap().node;
    let handler = Scripted::new(&db, Behaviour::SpoilTextWith("spoilt")).await;
    let calls = handler.calls.clone();
    let report = htm_worker::run(db.pool.clone(), handler, worker_options(true), CancellationToken::new())
        .await
        .unwrap();
    assert_eq!((report.done, report.failed, calls.load(Ordering::SeqCst)), (0, 4, 1));
    let paid = db.count("select tokens_used from htm.budgets").await;
    assert_eq!(paid, db.count("select token_count::bigint from htm.nodes").await);
    let status = htm.status(node).await.unwrap();
    let StageState::Dead { error, .. } = status.stage(Stage::Embed) else { panic!("{status:?}") };
    assert!(error.starts_with("database_error: the database refused a statement: "), "{error}");
    assert!(error.contains("NaN"), "{error}");
}

#[tokio::test]
async fn a_missing_privilege_charges_nothing_and_is_shown() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let node = htm.remember(Memory::new("not allowed yet")).await.unwrap().node;
    let denied = FULL.replace("disk_full", "insufficient_privilege");
    sqlx::raw_sql(sqlx::AssertSqlSafe(denied)).execute(&db.pool).await.unwrap();
    let handler = Scripted::new(&db, Behaviour::Succeed).await;
    assert_eq!(handler.model.name, ModelName::new("fake", "scripted"));
    let stop = CancellationToken::new();
    let worker = tokio::spawn(htm_worker::run(db.pool.clone(), handler, worker_options(false), stop.clone()));
    wait_until(|| async {
        let stats = queues::stats(&db.pool, "fake/tags").await.unwrap();
        stats.iter().any(|queue| queue.refused.as_ref().is_some_and(|it| it.starts_with("database_denied")))
    })
    .await;
    sqlx::raw_sql("drop trigger refuse on htm.completions").execute(&db.pool).await.unwrap();
    htm.wait_for(node, Stage::Embed, std::time::Duration::from_secs(60)).await.unwrap();
    stop.cancel();
    worker.await.unwrap().unwrap();
    assert_eq!(db.count("select max(attempt)::bigint from htm.completions").await, 1);
}
