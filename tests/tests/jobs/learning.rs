//! Jobs that are about a namespace.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use htm_core::Confirmation::{self, Confirmed};
use htm_core::job::LEARN_QUEUE;
use htm_core::jobs::{JobFilter, Selection};
use htm_core::worker::learning::{Evidence, LearntRanking};
use htm_core::worker::queues;
use htm_core::{Caller, Erase, Memory, Purge};
use htm_tests::{TestDatabase, enqueue_learning, wait_until, worker_options};
use htm_worker::{Options, Report};
use learn_worker::{Fit, LearnHandler};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

const MINUTE: Duration = Duration::from_secs(60);

async fn drain(db: &TestDatabase, fit: Fit, limit: Duration) -> Report {
    let handler = LearnHandler::new(fit, limit);
    let options = Options { batch: 1, concurrency: 1, ..worker_options(true) };
    htm_worker::run(db.pool.clone(), handler, options, CancellationToken::new()).await.unwrap()
}

/// The state and the attempts of the only job that learns, and the end of its last attempt.
async fn job(db: &TestDatabase) -> (String, i32, Option<Value>) {
    let job = "select status, attempts, last_result from apalis.jobs where job_type = 'htm.learn'";
    sqlx::query_as(job).fetch_one(&db.pool).await.unwrap()
}

fn learns(_: &Evidence) -> Option<LearntRanking> {
    None
}

fn fails(_: &Evidence) -> Option<LearntRanking> {
    panic!("the fit does not converge")
}

fn takes_long(_: &Evidence) -> Option<LearntRanking> {
    thread::sleep(MINUTE);
    None
}

#[tokio::test]
async fn workers_share_the_namespaces_and_none_is_learnt_twice() {
    static FITS: AtomicUsize = AtomicUsize::new(0);
    fn counted(_: &Evidence) -> Option<LearntRanking> {
        FITS.fetch_add(1, Ordering::SeqCst);
        thread::sleep(Duration::from_millis(20));
        None
    }
    let db = TestDatabase::new().await;
    for number in 0..20 {
        enqueue_learning(&db, &format!("namespace-{number}")).await;
    }
    let (one, other) = tokio::join!(drain(&db, counted, MINUTE), drain(&db, counted, MINUTE));
    assert_eq!((one.done + other.done, FITS.load(Ordering::SeqCst)), (20, 20));
    assert_eq!(queues::depth(&db.pool, LEARN_QUEUE).await.unwrap().done, 20);
}

#[tokio::test]
async fn a_fit_that_fails_is_tried_again_and_leaves_a_dead_letter_with_the_reason() {
    let db = TestDatabase::new().await;
    enqueue_learning(&db, "atlas").await;
    assert_eq!(drain(&db, fails, MINUTE).await, Report { failed: 3, ..Report::default() });
    let (state, attempts, result) = job(&db).await;
    assert_eq!((state.as_str(), attempts), ("Killed", 3));
    let reason = "learning_failed: learning for namespace `atlas` failed: the fit does not converge";
    assert_eq!(result.unwrap()["Err"], reason);

    // No node lacks a result because of it.
    let htm = db.htm();
    assert_eq!(htm.jobs().unwrap().audit().await.unwrap().dead_letters, 0);
    assert_eq!(htm.database().unwrap().progress().await.unwrap().dead, 0);
    // It is kept: it says why there is no ranking.
    assert_eq!(queues::prune_dead(&db.pool, LEARN_QUEUE, Duration::ZERO).await.unwrap(), 0);
    let all = Selection::Filter(JobFilter { queue: Some(LEARN_QUEUE.into()), ..JobFilter::default() });
    let retried = db.htm().jobs().unwrap().retry(&all).await.unwrap();
    assert_eq!((retried.retried, retried.outdated), (1, 0));
    assert_eq!(drain(&db, learns, MINUTE).await.done, 1);
    assert_eq!(job(&db).await, ("Done".into(), 1, Some(json!({ "Ok": "learnt" }))));

    enqueue_learning(&db, "atlas").await;
    assert_eq!(job(&db).await, ("Pending".into(), 0, None));
    let cancelled = db.htm().jobs().unwrap().cancel(&all, Confirmation::Missing).await.unwrap();
    assert_eq!((cancelled, job(&db).await.0), (1, "Killed".into()));
}

#[tokio::test]
async fn a_fit_that_takes_too_long_is_given_up() {
    let db = TestDatabase::new().await;
    enqueue_learning(&db, "atlas").await;
    let report = drain(&db, takes_long, Duration::from_millis(50)).await;
    assert_eq!(report, Report { failed: 3, ..Report::default() });
    let reason = "learning_timeout: learning for namespace `atlas` took longer than 50 ms";
    assert_eq!(job(&db).await.2.unwrap()["Err"], reason);
}

#[tokio::test]
async fn a_worker_that_stops_gives_back_what_it_learns_without_charge() {
    let db = TestDatabase::new().await;
    enqueue_learning(&db, "atlas").await;
    let stop = CancellationToken::new();
    let options = Options { grace: Duration::from_millis(10), ..worker_options(false) };
    let handler = LearnHandler::new(takes_long, 2 * MINUTE);
    let worker = tokio::spawn(htm_worker::run(db.pool.clone(), handler, options, stop.clone()));
    wait_until(|| async { job(&db).await.0 == "Running" }).await;
    let stopped = Instant::now();
    stop.cancel();
    assert_eq!(worker.await.unwrap().unwrap().released, 1);
    assert!(stopped.elapsed() < MINUTE / 2, "the fit is not waited for");
    assert_eq!(job(&db).await, ("Pending".into(), 0, None));
}

#[tokio::test]
async fn nothing_is_learnt_while_the_queue_is_paused() {
    let db = TestDatabase::new().await;
    enqueue_learning(&db, "atlas").await;
    queues::pause(&db.pool, LEARN_QUEUE, "a test").await.unwrap();
    assert_eq!(drain(&db, learns, MINUTE).await, Report::default());
    assert_eq!(job(&db).await, ("Pending".into(), 0, None));
    assert!(queues::resume(&db.pool, LEARN_QUEUE).await.unwrap());
    assert_eq!(drain(&db, learns, MINUTE).await.done, 1);
}

#[tokio::test]
async fn a_payload_of_another_kind_is_a_dead_letter() {
    let db = TestDatabase::new().await;
    enqueue_learning(&db, "atlas").await;
    sqlx::query(r#"update apalis.jobs set job = '{"v": 1, "node": 7, "revision": 1}'"#)
        .execute(&db.pool)
        .await
        .unwrap();
    drain(&db, learns, MINUTE).await;
    let (state, _, result) = job(&db).await;
    assert_eq!(state, "Killed");
    assert!(result.unwrap()["Err"].as_str().unwrap().contains("missing field `namespace`"));
}

#[tokio::test]
async fn jobs_without_a_node_end_with_their_namespace() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let forgotten = htm.remember(Memory::new("forgotten")).await.unwrap().node;
    let erased = htm.remember(Memory::new("erased")).await.unwrap().node;
    let namespace: String =
        sqlx::query_scalar("select namespace from htm.nodes limit 1").fetch_one(&db.pool).await.unwrap();
    enqueue_learning(&db, &namespace).await;
    drain(&db, learns, MINUTE).await;
    htm.forget(forgotten, &Caller::AnyRobot, Confirmed).await.unwrap();
    let now = sqlx::query_scalar("select now()").fetch_one(&db.pool).await.unwrap();
    let purge = Purge::before(now).caller(Caller::AnyRobot);
    assert_eq!(htm.purge(&purge, Confirmed).await.unwrap().removed.nodes, 1);
    htm.erase(&Erase::Memories(vec![erased]), None, Confirmed).await.unwrap();
    assert_eq!(job(&db).await.0, "Done");

    enqueue_learning(&db, "elsewhere").await;
    let erasure = htm.erase(&Erase::Namespace(namespace.clone()), None, Confirmed).await.unwrap();
    assert!(htm.verify_erasure(erasure.id, None).await.unwrap().is_clean);
    let left: String = sqlx::query_scalar("select metadata -> 'namespace' from apalis.jobs")
        .fetch_one(&db.pool)
        .await
        .unwrap();
    assert_eq!(left, "elsewhere");
}
