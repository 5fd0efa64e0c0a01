//! Workers and writers that are killed at any moment.

use std::time::{Duration, Instant};

use htm_core::{Memory, Stage};
use htm_tests::{OwnServer, Running, Sandbox, TestDatabase, wait_until};
use nix::sys::signal::Signal;
use sqlx::PgPool;

use crate::stage::*;

#[tokio::test]
async fn promise_01_a_node_and_its_jobs_commit_together_or_vanish() {
    let server = OwnServer::start().await;
    let mut promised = Vec::new();
    for round in 0..4u64 {
        // Writers on all sides of their COMMIT when the server dies.
        let writers: Vec<_> = (0..8)
            .map(|number| {
                let htm = writer(&server.pool);
                tokio::spawn(async move {
                    let mut written = Vec::new();
                    for n in 0.. {
                        let text = format!("round {round} writer {number} memory {n}");
                        match htm.remember(Memory::new(text)).await {
                            Ok(receipt) => written.push(receipt.node.0),
                            Err(_) => return written,
                        }
                    }
                    written
                })
            })
            .collect();
        wait_until(|| async {
            number(&server.pool, "select count(*) from htm.nodes").await >= 200 * (round as i64 + 1)
        })
        .await;
        tokio::time::sleep(Duration::from_millis(fastrand_ms(round))).await;
        server.crash().await;
        for writer in writers {
            promised.extend(writer.await.unwrap());
        }
        server.restart().await;
    }
    let kept: i64 = sqlx::query_scalar("select count(*) from htm.nodes where id = any ($1)")
        .bind(&promised)
        .fetch_one(&server.pool)
        .await
        .unwrap();
    assert_eq!(kept, promised.len() as i64, "a receipt is a promise");
    let halves = "select count(*) from htm.nodes n
                   where 2 <> (select count(*) from apalis.jobs j where j.metadata -> 'node' = n.id::text)";
    assert_eq!(number(&server.pool, halves).await, 0);
    let orphans = "select count(*) from apalis.jobs j
                    where not exists (select from htm.nodes n where n.id = (j.metadata -> 'node')::bigint)";
    assert_eq!(number(&server.pool, orphans).await, 0);
    assert_audited(&Sandbox::on(&server.url())).await;
}

/// Somewhere within a commit's time; another place in each round.
fn fastrand_ms(round: u64) -> u64 {
    (round * 37 + 11) % 50
}

#[tokio::test]
async fn promise_02_no_work_is_lost_while_workers_are_killed_again_and_again() {
    let db = TestDatabase::new().await;
    let undisturbed = TestDatabase::new().await;
    let sandbox = impatient(&db.url());
    let end = Instant::now() + fault_time();
    let live = tokio::spawn(write_until(db.pool.clone(), end));
    let mut workers: Vec<Running> = Vec::new();
    let mut killed = 0;
    let mut random = fastrand(7);
    while Instant::now() < end {
        while workers.len() < 4 {
            let program = if workers.len().is_multiple_of(2) { "embed-worker" } else { "tag-worker" };
            workers.push(sandbox.start(program, &["--batch", "8"]));
        }
        tokio::time::sleep(Duration::from_millis(100 + random() % 900)).await;
        let mut victim = workers.remove(random() as usize % workers.len());
        victim.signal(Signal::SIGKILL);
        victim.end().await;
        killed += 1;
    }
    let texts = live.await.unwrap();
    let _embed = sandbox.start("embed-worker", &[]);
    let _tag = sandbox.start("tag-worker", &[]);
    for stage in Stage::ALL {
        until_done(&db.pool, stage).await;
    }
    assert!(killed > 3 && texts > 50, "{killed} killed, {texts} written");
    assert_complete(&sandbox, &db.pool, &Stage::ALL).await;
    assert_eq!(depth(&db.pool, Stage::Embed).await.dead + depth(&db.pool, Stage::Tag).await.dead, 0);

    // The same texts, with nobody in the way.
    let memories: Vec<Memory> = (0..texts).map(|n| Memory::new(text(n))).collect();
    writer(&undisturbed.pool).remember_many(&memories).await.unwrap();
    let calm = impatient(&undisturbed.url());
    for (program, stage) in [("embed-worker", Stage::Embed), ("tag-worker", Stage::Tag)] {
        let mut worker = calm.start(program, &["--drain"]);
        until_done(&undisturbed.pool, stage).await;
        assert_eq!(worker.end().await.code(), Some(0));
    }
    assert_eq!(outcome(&db.pool).await, outcome(&undisturbed.pool).await);
}

/// Writes a memory every few milliseconds; says how many there are.
async fn write_until(pool: PgPool, end: Instant) -> usize {
    let htm = writer(&pool);
    let mut written = 0;
    while Instant::now() < end {
        htm.remember(Memory::new(text(written))).await.unwrap();
        written += 1;
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    written
}

fn text(number: usize) -> String {
    let about = ["the staging database", "a vector index", "the release plan", "Mara's preference"];
    format!("memory {number} about {}", about[number % about.len()])
}

/// The same numbers in each run (xorshift).
fn fastrand(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    }
}

#[tokio::test]
async fn a_long_text_of_a_lost_worker_does_not_stop_the_queue() {
    let db = TestDatabase::new().await;
    let provider = Provider::new(|texts, _| {
        let is_long = texts.iter().any(|text| text.contains("long"));
        vectors(texts).set_delay(Duration::from_secs(if is_long { 600 } else { 0 }))
    })
    .await;
    let sandbox = provider.sandbox(&db.url()).set("HTM_EMBEDDING__TIMEOUT_MS", "600000");
    remember(&db.pool, "long", 1).await;
    let mut worker = sandbox.start("embed-worker", &[]);
    wait_until(|| async { provider.calls().len() == 1 }).await;
    worker.signal(Signal::SIGKILL);
    worker.end().await;
    let survivor = sandbox.start("embed-worker", &[]);
    wait_until(|| async { provider.calls().len() == 2 }).await;
    remember(&db.pool, "short", 20).await;
    wait_until(|| async { depth(&db.pool, Stage::Embed).await.open() == 1 }).await;
    assert!(survivor.log().contains("other jobs now run beside them"), "{}", survivor.log());
    assert_eq!(provider.calls().iter().filter(|call| call.texts[0].contains("long")).count(), 2);
}

#[tokio::test]
async fn promise_03_what_runs_twice_has_one_effect() {
    let db = TestDatabase::new().await;
    let provider = Provider::new(|texts, _| vectors(texts).set_delay(Duration::from_millis(300))).await;
    let sandbox = provider.sandbox(&db.url());
    remember(&db.pool, "twice", 40).await;
    // Each is killed between the call and the ack: the provider has done the work, and nobody wrote it.
    for calls in 1..=3 {
        let mut worker = sandbox.start("embed-worker", &["--batch", "10", "--concurrency", "1"]);
        wait_until(|| async { provider.calls().len() >= calls }).await;
        worker.signal(Signal::SIGKILL);
        worker.end().await;
    }
    sandbox.run("embed-worker", &["--drain"], b"").await.succeeds();
    let asked: usize = provider.calls().iter().map(|call| call.texts.len()).sum();
    assert!(asked > 40, "something ran twice");
    assert!(asked <= 40 + 3 * 10, "no more than what was in flight: {asked}");
    assert_complete(&sandbox, &db.pool, &[Stage::Embed]).await;
}

#[tokio::test]
async fn promise_07_attempts_end_also_when_each_is_a_crash() {
    let db = TestDatabase::new().await;
    let provider = Provider::new(|texts, _| vectors(texts).set_delay(Duration::from_secs(30))).await;
    let sandbox = provider.sandbox(&db.url()).set("HTM_JOBS__MAX_ATTEMPTS", "3");
    let node = sandbox.remember(&["it kills whoever touches it"]).await;
    for crash in 1..=3 {
        let mut worker = sandbox.start("embed-worker", &[]);
        wait_until(|| async { provider.calls().len() == crash }).await;
        worker.signal(Signal::SIGKILL);
        worker.end().await;
        // Somebody else notices; it must not be the next victim already.
        let rescuer = sandbox.start("tag-worker", &[]);
        wait_until(|| async { depth(&db.pool, Stage::Embed).await.running == 0 }).await;
        drop(rescuer);
    }
    let status = sandbox.htm(&["--json", "status", &node]).await.json();
    let embed = &status["stages"][0];
    assert_eq!((embed["state"].as_str(), embed["attempts"].as_i64()), (Some("dead"), Some(3)), "{status}");
    assert!(embed["error"].as_str().unwrap().contains("was lost while it held the job"), "{status}");
    assert_audited(&sandbox).await;
}
