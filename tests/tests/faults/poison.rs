//! What is bad about single jobs.

use std::os::unix::process::ExitStatusExt;
use std::sync::{Arc, Mutex};

use htm_core::{Htm, Memory, NodeId, Stage};
use htm_tests::{TestDatabase, wait_until};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;

use crate::stage::*;

#[tokio::test]
async fn promise_08_poison_fails_alone() {
    let db = TestDatabase::new().await;
    let provider = Provider::new(|texts, _| {
        if texts.iter().any(|text| text.contains("refused")) {
            return refusal(400, "invalid_input", "this text is refused");
        }
        let mut all: Vec<_> = vectors_of(texts);
        for (index, text) in texts.iter().enumerate() {
            if text.contains("null") {
                all[index].1 = json!([null, 0, 0, 0, 0, 0, 0, 1]);
            } else if text.contains("short") {
                all[index].1 = json!([1, 0, 0]);
            }
        }
        answer(all)
    })
    .await;
    // A bad answer is the provider's fault, to be tried again; here it is the same each time.
    let sandbox = provider.sandbox(&db.url()).set("HTM_JOBS__MAX_ATTEMPTS", "2");
    let htm = writer(&db.pool);
    let good = remember(&db.pool, "good", 40).await;
    let refused = htm.remember(Memory::new("this is refused")).await.unwrap().node;
    let huge = htm.remember(Memory::new("word ".repeat(200_000))).await.unwrap().node;
    let [undecodable, foreign] =
        [spoil(&db, &htm, b"\xff\x00".to_vec()).await, spoil(&db, &htm, b"[]".to_vec()).await];
    let missing = spoil(&db, &htm, br#"{"v":1,"node":9223372036854775807,"revision":1}"#.to_vec()).await;
    sandbox.run("embed-worker", &["--drain"], b"").await.succeeds();
    let dead: Vec<(i64, String)> = sqlx::query_as(
        "select (metadata -> 'node')::bigint, last_result ->> 'Err' from apalis.jobs
          where job_type = 'htm.embed' and status = 'Killed' order by 1",
    )
    .fetch_all(&db.pool)
    .await
    .unwrap();
    let ids: Vec<i64> = dead.iter().map(|(node, _)| *node).collect();
    assert_eq!(ids, [refused.0, undecodable.0, foreign.0], "{dead:?}");
    assert!(dead[0].1.contains("refused"), "{dead:?}");
    assert!(dead[1].1.contains("cannot be read") && dead[2].1.contains("cannot be read"), "{dead:?}");
    for node in good.iter().chain([&huge]) {
        let status = htm.status(*node).await.unwrap();
        assert_eq!(status.stage(Stage::Embed).name(), "done", "{node}");
    }
    // The job of a node that never was ends without an effect; its own node is stranded, and the audit says so.
    let answer = sandbox.htm(&["jobs", "audit"]).await;
    assert!(answer.exits(1).stdout.contains(&missing.to_string()), "{answer:?}");
    sandbox.htm(&["jobs", "audit", "--repair"]).await;
    sandbox.run("embed-worker", &["--drain"], b"").await.succeeds();
    assert_audited(&sandbox).await;
}

#[tokio::test]
async fn promise_08_a_text_that_is_refused_alone_is_to_blame_if_another_one_is_taken() {
    let db = TestDatabase::new().await;
    let provider = Provider::new(|texts, _| match texts.iter().any(|text| text.contains("refused")) {
        true => refusal(400, "invalid_input", "this text is refused"),
        false => vectors(texts),
    })
    .await;
    let sandbox = provider.sandbox(&db.url());
    let htm = writer(&db.pool);
    // There is no other one, so the worker asks about a harmless one.
    let lone = htm.remember(Memory::new("this is refused")).await.unwrap().node;
    sandbox.run("embed-worker", &["--drain"], b"").await.succeeds();
    let sent = || provider.calls().into_iter().flat_map(|call| call.texts).collect::<Vec<_>>();
    assert_eq!(sent(), ["this is refused", "Hello.", "this is refused"]);
    // This worker knows that the provider takes texts.
    let _worker = sandbox.start("embed-worker", &[]);
    remember(&db.pool, "good", 3).await;
    until_done(&db.pool, Stage::Embed).await;
    let second = htm.remember(Memory::new("this one is refused as well")).await.unwrap().node;
    until_done(&db.pool, Stage::Embed).await;
    assert_eq!(sent().iter().filter(|text| *text == "Hello.").count(), 1);
    for node in [lone, second] {
        assert_eq!(htm.status(node).await.unwrap().stage(Stage::Embed).name(), "dead");
    }
    let left = depth(&db.pool, Stage::Embed).await;
    assert_eq!((left.done, left.dead), (3, 2));
    let state = sandbox.htm(&["--json", "providers"]).await.json();
    assert_eq!(state, json!([]), "the provider did not fail");
    assert_audited(&sandbox).await;
}

#[tokio::test]
async fn promise_08_a_text_that_ends_its_worker_takes_no_other_with_it() {
    let db = TestDatabase::new().await;
    let victim: Arc<Mutex<Option<Pid>>> = Arc::default();
    let provider = Provider::new({
        let victim = victim.clone();
        move |texts, _| {
            if texts.iter().any(|text| text.contains("killer"))
                && let Some(pid) = victim.lock().unwrap().take()
            {
                kill(pid, Signal::SIGKILL).unwrap();
            }
            vectors(texts)
        }
    })
    .await;
    let sandbox = provider.sandbox(&db.url());
    remember(&db.pool, "innocent", 107).await;
    let killer = writer(&db.pool).remember(Memory::new("the killer")).await.unwrap().node;
    sqlx::raw_sql("update apalis.jobs set max_attempts = 4").execute(&db.pool).await.unwrap();
    let mut ends = Vec::new();
    while depth(&db.pool, Stage::Embed).await.open() > 0 {
        let mut worker = sandbox.start("embed-worker", &["--drain"]);
        *victim.lock().unwrap() = Some(worker.pid);
        ends.push(worker.end().await);
    }
    let killed = ends.iter().filter(|end| end.signal() == Some(Signal::SIGKILL as i32)).count();
    let left = depth(&db.pool, Stage::Embed).await;
    assert_eq!((left.done, left.dead), (107, 1), "{ends:?}");
    assert_eq!(writer(&db.pool).status(killer).await.unwrap().stage(Stage::Embed).name(), "dead");
    assert_eq!(killed, 4, "all of its attempts: with all others, with some, alone twice: {ends:?}");
    assert_audited(&sandbox).await;
}

/// An answer that breaks the contract says nothing about single texts, so whoever shares a call with such a text fails
/// with it; until the batch that comes back is another.
#[tokio::test]
async fn promise_08_an_answer_that_is_no_vector_never_reaches_the_store() {
    let db = TestDatabase::new().await;
    let provider = Provider::new(|texts, before| {
        let mut all = vectors_of(texts);
        match before {
            0 => all[0].1 = json!([null, 0, 0, 0, 0, 0, 0, 1]),
            1 => all[0].1 = json!([1e39, 0, 0, 0, 0, 0, 0, 1]),
            2 => all[0].1 = json!([1, 0, 0]),
            _ => {}
        }
        answer(all)
    })
    .await;
    let sandbox = provider.sandbox(&db.url());
    remember(&db.pool, "sound", 5).await;
    sandbox.run("embed-worker", &["--drain"], b"").await.succeeds();
    assert!(provider.calls().len() >= 4);
    assert_complete(&sandbox, &db.pool, &[Stage::Embed]).await;
    let lengths = "select count(*) from htm.embeddings_1 where abs(l2_norm(embedding) - 1) > 0.01";
    assert_eq!(number(&db.pool, lengths).await, 0);
}

#[tokio::test]
async fn promise_08_ids_and_texts_of_every_kind_go_through() {
    let db = TestDatabase::new().await;
    let provider = Provider::new(|texts, _| vectors(texts)).await;
    let sandbox = provider.sandbox(&db.url());
    let htm = writer(&db.pool);
    let namespaces = ["'; drop table htm.nodes; --", "a=>b, \"c\"", "Ünïcödé ✓", "{\"v\":99}"];
    for (number, namespace) in namespaces.into_iter().enumerate() {
        let mut memory = Memory::new(format!("\u{202e}\"\\ {{}} $1 %s {number} \u{1f600}"));
        memory.namespace = Some(namespace.into());
        htm.remember(memory).await.unwrap();
    }
    for program in ["embed-worker", "tag-worker"] {
        sandbox.run(program, &["--drain"], b"").await.succeeds();
    }
    assert_complete(&sandbox, &db.pool, &Stage::ALL).await;
}

#[tokio::test]
async fn promise_10_a_payload_of_a_newer_version_waits_for_a_newer_worker() {
    let db = TestDatabase::new().await;
    let sandbox = impatient(&db.url());
    let htm = writer(&db.pool);
    let newer = spoil(&db, &htm, br#"{"v":99,"everything":"else"}"#.to_vec()).await;
    remember(&db.pool, "of today", 3).await;
    let _worker = sandbox.start("embed-worker", &[]);
    wait_until(|| async { depth(&db.pool, Stage::Embed).await.done == 3 }).await;
    let attempts = "select count(*) from apalis.jobs where status = 'Pending' and attempts = 0
                     and last_result ->> 'Err' like '%version 99%'";
    wait_until(|| async { number(&db.pool, attempts).await == 1 }).await;
    // Between two looks of the worker.
    wait_until(|| async {
        sandbox.htm(&["status", &newer.to_string()]).await.succeeds().contains("version 99")
    })
    .await;
}

/// A node whose embed job carries this instead.
async fn spoil(db: &TestDatabase, htm: &Htm, payload: Vec<u8>) -> NodeId {
    let node = htm.remember(Memory::new(format!("with the payload {payload:?}"))).await.unwrap().node;
    sqlx::query(
        "update apalis.jobs set job = $1 where job_type = 'htm.embed' and metadata -> 'node' = $2::text",
    )
    .bind(payload)
    .bind(node.to_string())
    .execute(&db.pool)
    .await
    .unwrap();
    node
}
