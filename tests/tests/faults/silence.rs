//! Connections whose other end is gone without a word.

use std::time::{Duration, Instant};

use htm_core::Stage;
use htm_tests::{Proxy, Sandbox, TestDatabase, wait_until};
use nix::sys::signal::Signal;

use crate::stage::*;

/// Through the proxy. A statement is given up after six seconds.
fn behind(proxy: &Proxy) -> Sandbox {
    impatient(&proxy.url()).set("HTM_DATABASE__STATEMENT_TIMEOUT_MS", "1000")
}

fn contains(message: &[u8], text: &[u8]) -> bool {
    message.windows(text.len()).any(|part| part == text)
}

/// Whether a message is a claim: it names the queue and the worker.
fn is_claim(message: &[u8]) -> bool {
    contains(message, b"htm.embed") && contains(message, b"embed-worker-")
}

#[tokio::test]
async fn promise_12_a_worker_gives_up_a_claim_that_nobody_answers_and_claims_again() {
    let db = TestDatabase::new().await;
    let proxy = Proxy::start(db.options()).await;
    let sandbox = behind(&proxy);
    let mut worker = sandbox.start("embed-worker", &[]);
    identity(&db.pool, &worker).await;
    let mut first = true;
    proxy.silence(move |message| is_claim(message) && std::mem::take(&mut first));
    wait_until(|| async { proxy.silent() == 1 }).await;
    remember(&db.pool, "waiting", 3).await;
    until_done(&db.pool, Stage::Embed).await;
    worker.signal(Signal::SIGTERM);
    assert_eq!(worker.end().await.code(), Some(0), "{}", worker.log());
    assert_complete(&impatient(&db.url()), &db.pool, &[Stage::Embed]).await;
}

#[tokio::test]
async fn promise_17_a_stop_does_not_wait_for_a_claim_that_nobody_answers() {
    let db = TestDatabase::new().await;
    let proxy = Proxy::start(db.options()).await;
    // A minute's patience with the claim.
    let sandbox =
        behind(&proxy).set("HTM_DATABASE__STATEMENT_TIMEOUT_MS", "60000").set("HTM_JOBS__GRACE_MS", "500");
    let mut worker = sandbox.start("embed-worker", &[]);
    identity(&db.pool, &worker).await;
    proxy.silence(is_claim);
    wait_until(|| async { proxy.silent() == 1 }).await;
    let told = Instant::now();
    worker.signal(Signal::SIGTERM);
    assert_eq!(worker.end().await.code(), Some(0), "{}", worker.log());
    assert!(told.elapsed() < Duration::from_secs(20), "it took {:?}", told.elapsed());
}

#[tokio::test]
async fn promise_17_a_stop_does_not_wait_for_a_registration_that_nobody_answers() {
    let db = TestDatabase::new().await;
    let proxy = Proxy::start(db.options()).await;
    // Whatever names the worker: first its registration.
    proxy.silence(|message| contains(message, b"embed-worker-"));
    let mut worker = behind(&proxy).start("embed-worker", &[]);
    wait_until(|| async { proxy.silent() == 1 }).await;
    let told = Instant::now();
    worker.signal(Signal::SIGTERM);
    assert_eq!(worker.end().await.code(), Some(75), "{}", worker.log());
    assert!(told.elapsed() < Duration::from_secs(20), "it took {:?}", told.elapsed());
}

#[tokio::test]
async fn promise_12_a_stop_ends_although_the_database_is_silent_and_says_so() {
    let db = TestDatabase::new().await;
    let proxy = Proxy::start(db.options()).await;
    let sandbox = behind(&proxy).set("HTM_JOBS__GRACE_MS", "500");
    let mut worker = sandbox.start("embed-worker", &[]);
    identity(&db.pool, &worker).await;
    proxy.silence(|_| true);
    wait_until(|| async { proxy.silent() > 1 }).await;
    worker.signal(Signal::SIGTERM);
    assert_eq!(worker.end().await.code(), Some(75), "{}", worker.log());
}

/// `./justw soak` runs it: a claimer counts as stuck after a minute.
#[tokio::test]
#[ignore = "more than a minute; `./justw soak`"]
async fn promise_12_a_stuck_claimer_ends_the_process_with_an_error() {
    let db = TestDatabase::new().await;
    let proxy = Proxy::start(db.options()).await;
    // No statement has a timeout.
    let sandbox = behind(&proxy).set("HTM_DATABASE__STATEMENT_TIMEOUT_MS", "0");
    let mut worker = sandbox.start("embed-worker", &[]);
    identity(&db.pool, &worker).await;
    proxy.silence(is_claim);
    wait_until(|| async { proxy.silent() == 1 }).await;
    let silent = Instant::now();
    wait_until(|| async { silent.elapsed() > Duration::from_secs(45) }).await;
    assert_eq!(worker.end().await.code(), Some(70), "{}", worker.log());
    assert!(worker.log().contains("the claimer has been stuck for"), "{}", worker.log());
}
