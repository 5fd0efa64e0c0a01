//! Who holds a job, and for how long.

use std::time::Duration;

use htm_core::{Caller, Confirmation, Edit, Stage};
use htm_tests::{TestDatabase, wait_until};
use nix::sys::signal::Signal;

use crate::stage::*;

#[tokio::test]
async fn promise_04_a_holder_that_slept_past_its_lease_changes_nothing() {
    let db = TestDatabase::new().await;
    let provider = Provider::new(|texts, _| vectors(texts).set_delay(Duration::from_millis(500))).await;
    let sandbox = provider.sandbox(&db.url());
    remember(&db.pool, "fenced", 5).await;
    let mut sleeper = sandbox.start("embed-worker", &[]);
    let sleepers_name = identity(&db.pool, &sleeper).await;
    wait_until(|| async { !provider.calls().is_empty() }).await;
    sleeper.signal(Signal::SIGSTOP);
    let other = sandbox.start("embed-worker", &[]);
    let others_name = identity(&db.pool, &other).await;
    until_done(&db.pool, Stage::Embed).await;
    let before = outcome(&db.pool).await;
    // It wakes with an answer in its hands, and jobs that are no longer its own.
    sleeper.signal(Signal::SIGCONT);
    wait_until(|| async { sleeper.log().contains("\"message\":\"batch\"") }).await;
    let log = sleeper.log();
    assert!(log.contains("\"lost\":5") && log.contains("results were rejected: the lease"), "{log}");
    assert_eq!(outcome(&db.pool).await, before);
    let by: Vec<(String, i32)> =
        sqlx::query_as("select worker, attempt from htm.completions where stage = 'embed'")
            .fetch_all(&db.pool)
            .await
            .unwrap();
    assert_eq!(by, vec![(others_name, 2); 5], "and nothing by {sleepers_name}");
    // And it works on, under its own name.
    drop(other);
    remember(&db.pool, "afterwards", 3).await;
    until_done(&db.pool, Stage::Embed).await;
    sleeper.signal(Signal::SIGTERM);
    assert_eq!(sleeper.end().await.code(), Some(0), "{}", sleeper.log());
    assert_complete(&sandbox, &db.pool, &[Stage::Embed]).await;
}

#[tokio::test]
async fn promise_05_a_dead_workers_jobs_come_back_although_one_of_its_name_lives() {
    let db = TestDatabase::new().await;
    let provider = Provider::new(|texts, before| {
        // The first call never ends.
        vectors(texts).set_delay(Duration::from_secs(if before == 0 { 60 } else { 0 }))
    })
    .await;
    let sandbox = provider.sandbox(&db.url());
    remember(&db.pool, "orphaned", 3).await;
    let mut worker = sandbox.start("embed-worker", &[]);
    let old = identity(&db.pool, &worker).await;
    wait_until(|| async { provider.calls().len() == 1 && held(&db.pool, &old).await == 3 }).await;
    worker.signal(Signal::SIGKILL);
    worker.end().await;
    // The same program with the same settings, at once: an identity of its own, so the old one's lease runs out.
    let worker = sandbox.start("embed-worker", &[]);
    let new = identity(&db.pool, &worker).await;
    assert_ne!(old, new);
    until_done(&db.pool, Stage::Embed).await;
    let workers: Vec<String> =
        sqlx::query_scalar("select distinct worker from htm.completions").fetch_all(&db.pool).await.unwrap();
    assert_eq!(workers, [new]);
    assert_complete(&sandbox, &db.pool, &[Stage::Embed]).await;
}

#[tokio::test]
async fn promise_06_a_job_three_leases_long_runs_once() {
    let db = TestDatabase::new().await;
    let provider = Provider::new(|texts, _| vectors(texts).set_delay(Duration::from_millis(3_500))).await;
    let sandbox = provider.sandbox(&db.url());
    remember(&db.pool, "slow", 4).await;
    let _workers = [sandbox.start("embed-worker", &[]), sandbox.start("embed-worker", &[])];
    until_done(&db.pool, Stage::Embed).await;
    let texts: Vec<String> = provider.calls().into_iter().flat_map(|call| call.texts).collect();
    assert_eq!(texts.len(), 4, "{texts:?}");
    assert_eq!(number(&db.pool, "select max(attempt)::bigint from htm.completions").await, 1);
    assert_complete(&sandbox, &db.pool, &[Stage::Embed]).await;
}

#[tokio::test]
async fn promise_14_an_edit_and_a_forget_during_embedding_win() {
    let db = TestDatabase::new().await;
    let provider = Provider::new(|texts, before| {
        vectors(texts).set_delay(Duration::from_millis(if before == 0 { 1_500 } else { 0 }))
    })
    .await;
    let sandbox = provider.sandbox(&db.url());
    let nodes = remember(&db.pool, "first words", 3).await;
    let _worker = sandbox.start("embed-worker", &["--concurrency", "1"]);
    wait_until(|| async { provider.calls().len() == 1 }).await;
    writer(&db.pool).forget(nodes[0], &Caller::Handle, Confirmation::Confirmed).await.unwrap();
    writer(&db.pool).edit(nodes[1], &Edit::new().content("second words")).await.unwrap();
    until_done(&db.pool, Stage::Embed).await;
    let revisions: Vec<(i64, i32)> =
        sqlx::query_as("select node_id, revision from htm.embeddings_1 order by 1")
            .fetch_all(&db.pool)
            .await
            .unwrap();
    let mut expected = [(nodes[1].0, 2), (nodes[2].0, 1)];
    expected.sort();
    assert_eq!(revisions, expected);
    assert_eq!(provider.calls().last().unwrap().texts, ["second words"]);
    let superseded = "select count(*) from apalis.jobs
                       where job_type = 'htm.embed' and last_result ->> 'Ok' = 'superseded'";
    assert_eq!(number(&db.pool, superseded).await, 2, "a late result for an older text is thrown away");
    assert_audited(&sandbox).await;
}

#[tokio::test]
async fn promise_17_a_stop_finishes_what_it_can_and_gives_the_rest_back() {
    let db = TestDatabase::new().await;
    let provider = Provider::new(|texts, _| vectors(texts).set_delay(Duration::from_millis(700))).await;
    let sandbox = provider.sandbox(&db.url());
    for (grace_ms, done) in [("10000", 2), ("50", 0)] {
        let sandbox = provider.sandbox(&db.url()).set("HTM_JOBS__GRACE_MS", grace_ms);
        let before = depth(&db.pool, Stage::Embed).await.done;
        let calls = provider.calls().len();
        remember(&db.pool, &format!("stopped with {grace_ms}"), 2).await;
        let mut worker = sandbox.start("embed-worker", &["--concurrency", "1"]);
        wait_until(|| async { provider.calls().len() > calls }).await;
        worker.signal(Signal::SIGTERM);
        assert_eq!(worker.end().await.code(), Some(0), "{}", worker.log());
        let now = depth(&db.pool, Stage::Embed).await;
        assert_eq!((now.done - before, now.running), (done, 0), "grace of {grace_ms} ms");
        let charged = "select count(*) from apalis.jobs where job_type = 'htm.embed' and status = 'Pending' and attempts > 0";
        assert_eq!(number(&db.pool, charged).await, 0, "no attempt is charged");
    }
    sandbox.run("embed-worker", &["--drain"], b"").await.succeeds();
    assert_complete(&sandbox, &db.pool, &[Stage::Embed]).await;
}
