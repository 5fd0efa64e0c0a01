//! Long runs, backlogs, several models.

use std::time::Duration;

use htm_core::{Memory, Stage};
use htm_tests::{Running, TestDatabase, wait_until};

use crate::stage::*;

#[tokio::test]
async fn promise_15_a_new_model_answers_only_when_it_is_complete() {
    let db = TestDatabase::new().await;
    let sandbox = impatient(&db.url());
    let htm = writer(&db.pool);
    for about in ["the ledger runs on PostgreSQL", "Mara prefers tabs", "the release is on Friday"] {
        htm.remember(Memory::new(about)).await.unwrap();
    }
    sandbox.run("embed-worker", &["--drain"], b"").await.succeeds();
    let find = async || {
        let found =
            sandbox.htm(&["--json", "recall", "--strategy", "vector", "ledger PostgreSQL"]).await.json();
        assert_eq!(found["degraded"].as_array().map(Vec::len), Some(0), "{found}");
        assert!(found["hits"][0]["content"].as_str().unwrap().contains("ledger"), "{found}");
    };
    find().await;
    sandbox.htm(&["models", "add", "fake/other", "--dimensions", "32"]).await.succeeds();
    find().await;
    // Written by both, found by the old one; the new one lacks the rest.
    htm.remember(Memory::new("written in between")).await.unwrap();
    sandbox.htm(&["models", "activate", "fake/other"]).await.fails(75, "model_incomplete");
    find().await;
    let _both =
        [sandbox.start("embed-worker", &[]), sandbox.start("embed-worker", &["--queue", "htm.embed.2"])];
    sandbox.htm(&["models", "backfill", "fake/other"]).await.succeeds();
    sandbox.htm(&["models", "activate", "fake/other"]).await.succeeds();
    find().await;
    sandbox.htm(&["models", "activate", "fake/fake-64"]).await.succeeds();
    find().await;
    let nodes = number(&db.pool, "select count(*) from htm.nodes").await;
    for store in ["select count(*) from htm.embeddings_1", "select count(*) from htm.embeddings_2"] {
        wait_until(|| async { number(&db.pool, store).await == nodes }).await;
    }
    assert_audited(&sandbox).await;
}

#[tokio::test]
async fn promise_16_a_backfill_yields_to_live_work() {
    let db = TestDatabase::new().await;
    let provider = Provider::new(|texts, _| vectors(texts).set_delay(Duration::from_millis(100))).await;
    let sandbox = provider.sandbox(&db.url());
    let nodes = remember(&db.pool, "old", 600).await;
    let quick = Provider::new(|texts, _| vectors(texts)).await;
    quick.sandbox(&db.url()).run("embed-worker", &["--drain"], b"").await.succeeds();
    sandbox.htm(&["backfill", "embed", "--force", "--no-wait"]).await.succeeds();
    assert_eq!(depth(&db.pool, Stage::Embed).await.pending, nodes.len() as i64);
    // Again is not more: it goes on from where it was, which is the end.
    let mut worker = sandbox.start("embed-worker", &["--batch", "10", "--concurrency", "1"]);
    wait_until(|| async { !provider.calls().is_empty() }).await;
    let live = remember(&db.pool, "live", 1).await[0];
    wait_until(|| async {
        provider.calls().iter().any(|call| call.texts.iter().any(|text| text == "live 0"))
    })
    .await;
    let calls = provider.calls();
    let place = calls.iter().position(|call| call.texts.iter().any(|text| text == "live 0")).unwrap();
    assert!(place < calls.len() && place <= 12, "call {place} of 61 was the live one's");
    assert!(depth(&db.pool, Stage::Embed).await.pending > 300);
    writer(&db.pool).wait_for(live, Stage::Embed, Duration::from_secs(30)).await.unwrap();
    worker.signal(nix::sys::signal::Signal::SIGTERM);
    worker.end().await;
    provider.becomes(|texts, _| vectors(texts));
    sandbox.run("embed-worker", &["--drain"], b"").await.succeeds();
    assert_complete(&sandbox, &db.pool, &[Stage::Embed]).await;
}

#[tokio::test]
async fn promise_16_live_work_overtakes_a_call_of_a_backfill() {
    let db = TestDatabase::new().await;
    // The backfill's call would end long after this test.
    let provider = Provider::new(|texts, _| match texts.iter().any(|text| text.starts_with("old")) {
        true => vectors(texts).set_delay(Duration::from_secs(600)),
        false => vectors(texts),
    })
    .await;
    remember(&db.pool, "old", 30).await;
    let quick = Provider::new(|texts, _| vectors(texts)).await;
    quick.sandbox(&db.url()).run("embed-worker", &["--drain"], b"").await.succeeds();
    let sandbox = provider.sandbox(&db.url()).set("HTM_JOBS__GRACE_MS", "0");
    sandbox.htm(&["backfill", "embed", "--force", "--no-wait"]).await.succeeds();
    let mut worker = sandbox.start("embed-worker", &["--batch", "10", "--concurrency", "1"]);
    wait_until(|| async { !provider.calls().is_empty() }).await;
    for count in 1..=3 {
        let live = remember(&db.pool, &format!("live {count}"), 1).await[0];
        writer(&db.pool).wait_for(live, Stage::Embed, Duration::from_secs(30)).await.unwrap();
    }
    let held: Vec<Call> =
        provider.calls().into_iter().filter(|call| call.texts[0].starts_with("old")).collect();
    assert_eq!(held.len(), 1, "the backfill keeps to its one call");
    worker.signal(nix::sys::signal::Signal::SIGTERM);
    assert!(worker.end().await.success());
    assert_audited(&sandbox).await;
}

#[tokio::test]
async fn promise_18_done_jobs_are_pruned_and_stay_done() {
    let db = TestDatabase::new().await;
    let sandbox = impatient(&db.url()).set("HTM_JOBS__KEEP_DONE_MS", "0");
    let nodes = remember(&db.pool, "to be pruned", 50).await;
    let _workers = [sandbox.start("embed-worker", &[]), sandbox.start("tag-worker", &[])];
    wait_until(|| async { number(&db.pool, "select count(*) from apalis.jobs").await == 0 }).await;
    for node in nodes {
        let status = writer(&db.pool).status(node).await.unwrap();
        assert!(Stage::ALL.iter().all(|stage| status.stage(*stage).name() == "done"), "{status:?}");
    }
    assert_complete(&sandbox, &db.pool, &Stage::ALL).await;
}

/// `./justw soak` runs it: minutes, and gigabytes of disk.
#[tokio::test]
#[ignore = "a million jobs; `./justw soak`"]
async fn promise_18_a_backlog_of_a_million_jobs_leaves_memory_flat() {
    let db = TestDatabase::new().await;
    let sandbox = impatient(&db.url());
    // A job a stage.
    let nodes = std::env::var("HTM_SOAK_NODES").ok().and_then(|text| text.parse().ok()).unwrap_or(500_000);
    let htm = writer(&db.pool);
    for part in 0..nodes / 5_000 {
        let memory =
            |n: usize| Memory::new(format!("memory {n} of part {part}: {}", words_of(5_000 * part + n)));
        htm.remember_many(&(0..5_000).map(memory).collect::<Vec<_>>()).await.unwrap();
    }
    assert_eq!(number(&db.pool, "select count(*) from apalis.jobs").await, 2 * nodes as i64);
    let mut workers = [sandbox.start("embed-worker", &[]), sandbox.start("tag-worker", &[])];
    let mut first: Option<Vec<u64>> = None;
    let mut most = vec![0; workers.len()];
    let mut previous = i64::MAX;
    loop {
        let left = depth(&db.pool, Stage::Embed).await.open() + depth(&db.pool, Stage::Tag).await.open();
        let now: Vec<u64> = workers.iter().map(resident_kib).collect();
        if left < 2 * nodes as i64 * 19 / 20 {
            first.get_or_insert_with(|| now.clone());
        }
        for (most, now) in most.iter_mut().zip(&now) {
            *most = (*most).max(*now);
        }
        eprintln!("{left} jobs left; resident {now:?} KiB");
        if left == 0 {
            break;
        }
        assert!(left < previous, "nothing was done for ten seconds");
        previous = left;
        tokio::time::sleep(Duration::from_secs(10)).await;
    }
    let first = first.expect("it was not over at once");
    for (first, most) in first.iter().zip(&most) {
        assert!(most - first < 64 * 1024, "from {first} KiB to {most} KiB");
    }
    for worker in &mut workers {
        worker.signal(nix::sys::signal::Signal::SIGTERM);
        assert_eq!(worker.end().await.code(), Some(0));
    }
    assert_audited(&sandbox).await;
}

/// Eight words of three letters, other ones for each number: vectors of near copies would make an index that no memory
/// has, and words of more letters a tag each.
fn words_of(number: usize) -> String {
    let mut state = number as u64;
    let mut letter = || {
        // The step of the 64-bit generator in Knuth's MMIX.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (b'a' + (state >> 33) as u8 % 26) as char
    };
    (0..8).map(|_| format!("{}{}{}", letter(), letter(), letter())).collect::<Vec<_>>().join(" ")
}

fn resident_kib(worker: &Running) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", worker.pid)).expect("it lives");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("VmRSS");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}

#[tokio::test]
async fn promise_19_the_ping_wakes_a_worker_whose_poll_is_a_minute() {
    let db = TestDatabase::new().await;
    let sandbox = impatient(&db.url()).set("HTM_JOBS__POLL_MS", "60000");
    let _workers = [sandbox.start("embed-worker", &[]), sandbox.start("tag-worker", &[])];
    let listening = "select count(*) from pg_stat_activity
                      where datname = current_database() and query like 'LISTEN%' and state = 'idle'";
    wait_until(|| async { number(&db.pool, listening).await == 2 }).await;
    let htm = writer(&db.pool);
    // Each finds them idle: were a wake-up lost, it would take the minute. `wait_for` has half of it.
    for number in 0..20 {
        // Every other writer is gone when it has written.
        let writer = if number % 2 == 0 { htm.clone() } else { writer(&db.pool) };
        let node = writer.remember(Memory::new(format!("wake up, number {number}"))).await.unwrap().node;
        drop(writer);
        for stage in Stage::ALL {
            htm.wait_for(node, stage, Duration::from_secs(30)).await.unwrap();
        }
    }
    assert_complete(&sandbox, &db.pool, &Stage::ALL).await;
}
