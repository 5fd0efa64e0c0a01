//! Leases through outages, and through jumps of the database's clock.

use std::time::{Duration, Instant};

use htm_core::{Memory, Stage};
use htm_tests::{OwnServer, Running, Sandbox, TestDatabase, wait_until};
use nix::sys::signal::Signal;
use sqlx::PgPool;

use crate::stage::*;

/// Renewed twice a second, on a machine that is busy with other tests.
const LEASE: Duration = Duration::from_secs(3);

fn with_lease(sandbox: Sandbox) -> Sandbox {
    sandbox.set("HTM_JOBS__LEASE_MS", &LEASE.as_millis().to_string())
}

/// Each text was sent once, each job took one attempt, and nobody rescued anything.
async fn assert_undisturbed(pool: &PgPool, provider: &Provider, texts: usize, workers: &[Running]) {
    let sent: usize = provider.calls().iter().map(|call| call.texts.len()).sum();
    assert_eq!(sent, texts, "each text is sent once");
    assert_eq!(number(pool, "select max(attempt)::bigint from htm.completions").await, 1);
    for worker in workers {
        assert!(!worker.log().contains("rescued the jobs"), "{}", worker.log());
    }
}

/// `./justw soak` runs it: an outage of a lease and a half.
#[tokio::test]
#[ignore = "some 20 s; `./justw soak`"]
async fn promise_06_workers_that_live_keep_their_jobs_through_an_outage_longer_than_a_lease() {
    let server = OwnServer::start().await;
    // Some of the answers come during the outage, some after it.
    let provider = Provider::new(|texts, before| {
        vectors(texts).set_delay(if before.is_multiple_of(2) { LEASE } else { 3 * LEASE })
    })
    .await;
    // Whoever looks for lost workers, which is more often, is back before those who renew. On a busy machine a connection
    // takes some hundred milliseconds.
    let sandbox = with_lease(provider.sandbox(&server.url())).set("HTM_DATABASE__CONNECT_TIMEOUT_MS", "1000");
    remember(&server.pool, "through the outage", 40).await;
    // A rescue would make a dead letter of each.
    sqlx::query("update apalis.jobs set max_attempts = 1").execute(&server.pool).await.unwrap();
    let workers: Vec<Running> =
        (0..6).map(|_| sandbox.start("embed-worker", &["--batch", "4", "--concurrency", "2"])).collect();
    wait_until(|| async { provider.calls().iter().map(|call| call.texts.len()).sum::<usize>() == 40 }).await;
    // A claim is committed without waiting for the disk. A crash at once would lose it, and its texts be sent twice.
    sqlx::raw_sql("checkpoint").execute(&server.pool).await.unwrap();
    server.crash().await;
    let down = Instant::now();
    wait_until(|| async { down.elapsed() > LEASE * 3 / 2 }).await;
    server.restart().await;
    wait_until(|| async {
        htm_core::worker::queues::depth(&server.pool, "htm.embed").await.is_ok_and(|depth| depth.open() == 0)
    })
    .await;
    assert_eq!(depth(&server.pool, Stage::Embed).await.dead, 0);
    assert_undisturbed(&server.pool, &provider, 40, &workers).await;
    assert_complete(&sandbox, &server.pool, &[Stage::Embed]).await;
}

#[tokio::test]
async fn promise_13_a_clock_that_is_put_forward_costs_no_worker_its_jobs() {
    let db = TestDatabase::new().await;
    let provider = Provider::new(|texts, _| vectors(texts).set_delay(LEASE * 3 / 2)).await;
    let sandbox = with_lease(provider.sandbox(&db.url()));
    remember(&db.pool, "an hour ahead", 4).await;
    let workers = [sandbox.start("embed-worker", &[]), sandbox.start("embed-worker", &[])];
    for worker in &workers {
        identity(&db.pool, worker).await;
    }
    wait_until(|| async { !provider.calls().is_empty() }).await;
    // All that the database has stamped lies an hour back, as it does when the clock is put forward by as much.
    sqlx::query("update apalis.workers set last_seen = last_seen - interval '1 hour'")
        .execute(&db.pool)
        .await
        .unwrap();
    until_done(&db.pool, Stage::Embed).await;
    assert_undisturbed(&db.pool, &provider, 4, &workers).await;
    assert_complete(&sandbox, &db.pool, &[Stage::Embed]).await;
}

#[tokio::test]
async fn promise_05_a_dead_workers_jobs_come_back_although_the_clock_was_put_back() {
    let db = TestDatabase::new().await;
    let provider = Provider::new(|texts, before| {
        vectors(texts).set_delay(Duration::from_secs(if before == 0 { 60 } else { 0 }))
    })
    .await;
    let sandbox = provider.sandbox(&db.url());
    remember(&db.pool, "an hour behind", 3).await;
    let mut worker = sandbox.start("embed-worker", &[]);
    let dead = identity(&db.pool, &worker).await;
    wait_until(|| async { provider.calls().len() == 1 && held(&db.pool, &dead).await == 3 }).await;
    worker.signal(Signal::SIGKILL);
    worker.end().await;
    sqlx::query("update apalis.workers set last_seen = now() + interval '1 hour' where id = $1")
        .bind(&dead)
        .execute(&db.pool)
        .await
        .unwrap();
    let _next = sandbox.start("embed-worker", &[]);
    until_done(&db.pool, Stage::Embed).await;
    assert_complete(&sandbox, &db.pool, &[Stage::Embed]).await;
}

#[tokio::test]
async fn promise_02_a_claim_that_was_committed_after_it_was_given_up_comes_back() {
    let db = TestDatabase::new().await;
    let provider = Provider::new(|texts, before| {
        vectors(texts).set_delay(Duration::from_secs(if before == 0 { 2 } else { 0 }))
    })
    .await;
    // It is given back after six seconds.
    let sandbox = provider.sandbox(&db.url()).set("HTM_DATABASE__STATEMENT_TIMEOUT_MS", "1000");
    remember(&db.pool, "in its hands", 2).await;
    let mut worker = sandbox.start("embed-worker", &["--drain"]);
    let name = identity(&db.pool, &worker).await;
    wait_until(|| async { provider.calls().len() == 1 }).await;
    // As the server commits a claim long after the client has cut the connection.
    let mut tx = db.pool.begin().await.unwrap();
    let htm = writer(&db.pool);
    let receipt = htm.remember_in_tx(&mut tx, Memory::new("not in its hands")).await.unwrap();
    let claimed = sqlx::query(
        "update apalis.jobs set status = 'Running', lock_by = $1, lock_at = now(), attempts = 1
          where job_type = 'htm.embed' and status = 'Pending'",
    )
    .bind(&name)
    .execute(&mut *tx)
    .await
    .unwrap();
    assert_eq!(claimed.rows_affected(), 1);
    tx.commit().await.unwrap();
    drop(receipt);
    assert_eq!(worker.end().await.code(), Some(0), "{}", worker.log());
    assert_eq!(depth(&db.pool, Stage::Embed).await.done, 3);
    assert_undisturbed(&db.pool, &provider, 3, &[worker]).await;
    assert_complete(&sandbox, &db.pool, &[Stage::Embed]).await;
}
