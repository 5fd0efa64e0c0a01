//! What goes wrong at PostgreSQL and between it and a worker.

use std::process::Command;
use std::time::Duration;

use htm_core::{Memory, Stage};
use htm_tests::{OwnServer, TestDatabase, wait_until};
use nix::sys::signal::Signal;
use sqlx::postgres::PgPoolOptions;
use sqlx::{Connection, PgConnection};

use crate::stage::*;

#[tokio::test]
async fn promise_12_workers_live_through_crashes_of_postgres() {
    let server = OwnServer::start().await;
    let sandbox = impatient(&server.url());
    let mut workers =
        [sandbox.start("embed-worker", &["--batch", "8"]), sandbox.start("tag-worker", &["--batch", "8"])];
    for round in 0..3 {
        remember(&server.pool, &format!("round {round}"), 300).await;
        wait_until(|| async { depth(&server.pool, Stage::Embed).await.done > round * 300 + 20 }).await;
        server.crash().await;
        server.restart().await;
    }
    for stage in Stage::ALL {
        wait_until(|| async {
            htm_core::worker::queues::depth(&server.pool, stage.queue())
                .await
                .is_ok_and(|depth| depth.open() == 0)
        })
        .await;
    }
    assert_complete(&sandbox, &server.pool, &Stage::ALL).await;
    for worker in &mut workers {
        worker.signal(Signal::SIGTERM);
        assert_eq!(worker.end().await.code(), Some(0), "{}", worker.log());
    }
}

#[tokio::test]
async fn promise_12_a_worker_that_cannot_give_back_its_jobs_does_not_say_that_all_is_well() {
    let server = OwnServer::start().await;
    let provider = Provider::new(|texts, _| vectors(texts).set_delay(Duration::from_secs(30))).await;
    let sandbox = provider
        .sandbox(&server.url())
        .set("HTM_JOBS__GRACE_MS", "100")
        .set("HTM_DATABASE__CONNECT_TIMEOUT_MS", "300");
    remember(&server.pool, "left behind", 3).await;
    let mut worker = sandbox.start("embed-worker", &[]);
    wait_until(|| async { provider.calls().len() == 1 }).await;
    server.crash().await;
    worker.signal(Signal::SIGTERM);
    let code = worker.end().await.code();
    assert_eq!(code, Some(75), "{}", worker.log());
    // Nothing is lost by it: the lease runs out.
    server.restart().await;
    provider.becomes(|texts, _| vectors(texts));
    let _next = sandbox.start("embed-worker", &[]);
    wait_until(|| async {
        htm_core::worker::queues::depth(&server.pool, "htm.embed").await.is_ok_and(|depth| depth.done == 3)
    })
    .await;
    assert_complete(&sandbox, &server.pool, &[Stage::Embed]).await;
}

#[tokio::test]
async fn promise_12_terminated_backends_and_an_exhausted_pool_cost_time_only() {
    let db = TestDatabase::new().await;
    let sandbox = impatient(&db.url()).set("HTM_DATABASE__MAX_CONNECTIONS", "1");
    remember(&db.pool, "interrupted", 400).await;
    let mut workers = [
        sandbox.start("embed-worker", &["--batch", "4", "--concurrency", "8"]),
        sandbox.start("tag-worker", &["--batch", "4", "--concurrency", "8"]),
    ];
    // One that has not started cannot reconnect: it ends, with an exit code that says so.
    for worker in &workers {
        identity(&db.pool, worker).await;
    }
    let terminate = "select count(pg_terminate_backend(pid)) from pg_stat_activity
                      where datname = current_database() and application_name = 'htm'";
    let mut terminated = 0;
    for _ in 0..20 {
        terminated += number(&db.pool, terminate).await;
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    for stage in Stage::ALL {
        until_done(&db.pool, stage).await;
    }
    assert!(terminated > 0);
    assert_complete(&sandbox, &db.pool, &Stage::ALL).await;
    for worker in &mut workers {
        worker.signal(Signal::SIGTERM);
        assert_eq!(worker.end().await.code(), Some(0), "{}", worker.log());
    }
}

#[tokio::test]
async fn promise_12_connections_that_are_cut_together_cost_one_call_at_most() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let node = htm
        .robot("ada")
        .await
        .unwrap()
        .remember(Memory::new("the lock is oiled"))
        .await
        .unwrap()
        .receipt
        .node;
    let mut cutter = PgConnection::connect_with(&db.options()).await.unwrap();
    let mut held = Vec::new();
    for _ in 0..8 {
        held.push(db.pool.acquire().await.unwrap());
    }
    drop(held);
    wait_until(|| async { db.pool.num_idle() >= 8 }).await;
    // They have been idle for so short a time that none is tested for it.
    sqlx::query(
        "select pg_terminate_backend(pid, 5000) from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid()",
    )
    .execute(&mut cutter)
    .await
    .unwrap();
    let mut failed = 0;
    for _ in 0..8 {
        failed += usize::from(htm.get(node).await.is_err());
    }
    assert!(failed <= 1, "{failed} of 8 calls failed");
}

#[tokio::test]
async fn promise_12_a_connection_that_ends_while_a_worker_registers_costs_time_only() {
    let db = TestDatabase::new().await;
    sqlx::raw_sql(
        "create sequence tries;
         create function cut() returns trigger language plpgsql as $$ begin
             if nextval('public.tries') = 1 then perform pg_terminate_backend(pg_backend_pid()); end if;
             return new;
         end $$;
         create trigger cut before insert on apalis.workers for each row execute function cut();",
    )
    .execute(&db.pool)
    .await
    .unwrap();
    let sandbox = impatient(&db.url());
    remember(&db.pool, "all the same", 3).await;
    let mut worker = sandbox.start("embed-worker", &["--drain"]);
    assert_eq!(worker.end().await.code(), Some(0), "{}", worker.log());
    assert!(number(&db.pool, "select last_value from tries").await > 1);
    assert_complete(&sandbox, &db.pool, &[Stage::Embed]).await;
}

#[tokio::test]
async fn promise_12_an_application_whose_pool_is_exhausted_gets_an_error_and_loses_nothing() {
    let db = TestDatabase::new().await;
    let pool = PgPoolOptions::new()
        .max_connections(1)
        .acquire_timeout(Duration::from_millis(100))
        .connect_with(db.options())
        .await
        .unwrap();
    let htm = writer(&pool);
    let busy = pool.acquire().await.unwrap();
    let error = htm.remember(Memory::new("no room")).await.unwrap_err();
    assert_eq!(error.code(), "database_unreachable");
    drop(busy);
    htm.remember(Memory::new("room")).await.unwrap();
    assert_eq!(number(&db.pool, "select count(*) from htm.nodes").await, 1);
}

#[tokio::test]
async fn promise_13_no_clock_but_the_databases_counts() {
    let db = TestDatabase::new().await;
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/faults/skewed_clock.c");
    let dir = tempfile::tempdir().unwrap();
    let shim = dir.path().join("skewed_clock.so");
    let compiled = Command::new("cc")
        .args(["-shared", "-fPIC", "-O1", "-o"])
        .arg(&shim)
        .arg(source)
        .arg("-ldl")
        .status();
    if !compiled.is_ok_and(|status| status.success()) {
        htm_tests::skipped("there is no C compiler to make a skewed clock with");
        return;
    }
    let skewed = |seconds: &str| {
        impatient(&db.url()).set("LD_PRELOAD", shim.to_str().unwrap()).set("HTM_CLOCK_OFFSET", seconds)
    };
    let (fast, slow) = (skewed("3600"), skewed("-3600"));
    let _workers =
        [fast.start("embed-worker", &[]), slow.start("embed-worker", &[]), slow.start("tag-worker", &[])];
    for sandbox in [&fast, &slow] {
        let node = sandbox.remember(&["what time is it?"]).await;
        for stage in ["embed", "tag"] {
            sandbox.htm(&["status", &node, "--wait", stage, "--timeout", "30"]).await.succeeds();
        }
    }
    // A failed job of a worker whose clock is an hour ahead waits its backoff, not an hour.
    sqlx::query(
        "update apalis.jobs set status = 'Pending', done_at = null, attempts = 0, run_at = now(), job = 'x'
          where metadata -> 'node' = '1' and job_type = 'htm.embed'",
    )
    .execute(&db.pool)
    .await
    .unwrap();
    wait_until(|| async { depth(&db.pool, Stage::Embed).await.dead == 1 }).await;
    let strange = "select (select count(*) from htm.nodes where abs(extract(epoch from now() - created_at)) > 120)
                        + (select count(*) from apalis.jobs
                            where greatest(abs(extract(epoch from now() - run_at)),
                                           abs(extract(epoch from now() - done_at))) > 120)
                        + (select count(*) from htm.completions where abs(extract(epoch from now() - done_at)) > 120)
                        + (select count(*) from apalis.workers where abs(extract(epoch from now() - last_seen)) > 120)";
    assert_eq!(number(&db.pool, strange).await, 0);
    assert_audited(&impatient(&db.url())).await;
}
