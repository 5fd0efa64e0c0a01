//! Workers as processes: killed, told to stop, drained, without a database.

use std::time::Duration;

use htm_core::worker::{queues, workers};
use htm_core::{Memory, Stage};
use htm_tests::{Running, Sandbox, TestDatabase, wait_until};
use nix::sys::signal::Signal;
use sqlx::{Connection, PgConnection};

#[path = "processes/learning.rs"]
mod learning;

/// Nobody listens on port 1.
const NOBODY: &str = "postgres://nobody@127.0.0.1:1/nothing";

/// A dead worker's jobs are back within a second or so.
fn impatient(db: &TestDatabase) -> Sandbox {
    Sandbox::new(db).set("HTM_JOBS__LEASE_MS", "1000").set("HTM_JOBS__POLL_MS", "50")
}

async fn remember(db: &TestDatabase, label: &str, count: usize) {
    let memories: Vec<Memory> =
        (0..count).map(|n| Memory::new(format!("memory {label} number {n}"))).collect();
    for receipt in db.htm().remember_many(&memories).await.unwrap() {
        receipt.unwrap();
    }
}

async fn depth(db: &TestDatabase, stage: Stage) -> queues::QueueDepth {
    queues::depth(&db.pool, stage.queue()).await.unwrap()
}

async fn done(db: &TestDatabase) -> bool {
    let mut open = 0;
    for stage in Stage::ALL {
        open += depth(db, stage).await.open();
    }
    open == 0
}

/// The identity of a worker that this process runs, once it is registered.
async fn identity(db: &TestDatabase, worker: &Running) -> String {
    let infix = format!("-worker-{}-", worker.pid);
    let find = || async {
        let all = workers::list(&db.pool).await.unwrap();
        all.into_iter().map(|worker| worker.id).find(|id| id.contains(&infix))
    };
    wait_until(|| async { find().await.is_some() }).await;
    find().await.unwrap()
}

/// The nodes whose jobs stand in a worker's name.
async fn held(db: &TestDatabase, worker: &str) -> Vec<i64> {
    sqlx::query_scalar(
        "select (metadata -> 'node')::bigint from apalis.jobs where lock_by = $1 and status = 'Running'",
    )
    .bind(worker)
    .fetch_all(&db.pool)
    .await
    .unwrap()
}

#[tokio::test]
async fn a_worker_killed_with_jobs_in_its_hands_loses_none() {
    let db = TestDatabase::new().await;
    let sandbox = impatient(&db);
    remember(&db, "before", 300).await;
    let small = ["--batch", "4"];
    let victim = sandbox.start("embed-worker", &small);
    let _survivor = sandbox.start("embed-worker", &small);
    let _tagger = sandbox.start("tag-worker", &small);
    let victims_name = identity(&db, &victim).await;
    wait_until(|| async { depth(&db, Stage::Embed).await.done >= 20 }).await;

    // Nodes cannot be read for a while: whoever claims a job now holds it. More jobs are left than the workers may
    // hold at once, so that the victim gets some.
    let mut blocker = PgConnection::connect_with(&db.options()).await.unwrap();
    let block = "begin; lock table htm.nodes in access exclusive mode";
    sqlx::raw_sql(block).execute(&mut blocker).await.unwrap();
    while depth(&db, Stage::Embed).await.pending < 32 {
        sqlx::raw_sql("rollback").execute(&mut blocker).await.unwrap();
        remember(&db, "to have enough", 100).await;
        sqlx::raw_sql(block).execute(&mut blocker).await.unwrap();
    }
    let writer = tokio::spawn({
        let htm = db.htm();
        async move {
            for n in 0..200 {
                htm.remember(Memory::new(format!("memory meanwhile number {n}"))).await.unwrap();
            }
        }
    });
    wait_until(|| async { !held(&db, &victims_name).await.is_empty() }).await;
    let mut victim = victim;
    victim.signal(Signal::SIGKILL);
    assert_eq!(victim.end().await.code(), None);
    let orphans = held(&db, &victims_name).await;
    assert!(!orphans.is_empty());
    // Another worker takes them back. What the dead one had sent is still under way on the server, and comes late.
    wait_until(|| async { held(&db, &victims_name).await.is_empty() }).await;
    sqlx::raw_sql("rollback").execute(&mut blocker).await.unwrap();

    writer.await.unwrap();
    wait_until(|| done(&db)).await;
    let all = db.count("select count(*) from htm.nodes").await;
    assert!(all >= 500);
    assert_eq!(db.count("select count(*) from htm.embeddings_1").await, all);
    assert_eq!(db.count("select count(distinct node_id) from htm.node_tags").await, all);
    assert_eq!(queues::count_stranded(&db.pool).await.unwrap(), 0);
    for stage in ["embed", "tag"] {
        let completions: (i64, i64) =
            sqlx::query_as("select count(*), count(distinct node_id) from htm.completions where stage = $1")
                .bind(stage)
                .fetch_one(&db.pool)
                .await
                .unwrap();
        assert_eq!(completions, (all, all), "{stage}");
    }
    let rescued: Vec<(i32, String)> = sqlx::query_as(
        "select attempt, worker from htm.completions where stage = 'embed' and node_id = any ($1)",
    )
    .bind(&orphans)
    .fetch_all(&db.pool)
    .await
    .unwrap();
    assert_eq!(rescued.len(), orphans.len());
    assert!(rescued.iter().all(|(attempt, by)| *attempt > 1 && *by != victims_name), "{rescued:?}");
}

#[tokio::test]
async fn sigterm_ends_a_worker_cleanly_in_the_midst_of_work() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    remember(&db, "plenty", 2_000).await;
    for (program, stage) in [("embed-worker", Stage::Embed), ("tag-worker", Stage::Tag)] {
        let mut worker = sandbox.start(program, &["--batch", "4"]);
        wait_until(|| async { depth(&db, stage).await.done > 0 }).await;
        worker.signal(Signal::SIGTERM);
        assert_eq!(worker.end().await.code(), Some(0), "{}", worker.log());
        assert_eq!(depth(&db, stage).await.running, 0);
        assert!(workers::list(&db.pool).await.unwrap().is_empty());
    }
}

#[tokio::test]
async fn draining_ends_when_nothing_is_left() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    // Nothing to do is done at once.
    sandbox.run("embed-worker", &["--drain"], b"").await.succeeds();
    remember(&db, "to drain", 100).await;
    for (program, stage) in [("embed-worker", Stage::Embed), ("tag-worker", Stage::Tag)] {
        sandbox.run(program, &["--drain"], b"").await.succeeds();
        assert_eq!(depth(&db, stage).await, queues::QueueDepth { done: 100, ..Default::default() });
    }
}

#[tokio::test]
async fn a_worker_without_a_database_says_so_and_may_be_started_again() {
    let sandbox = Sandbox::on(NOBODY).set("HTM_DATABASE__CONNECT_TIMEOUT_MS", "200");
    for program in ["embed-worker", "tag-worker", "learn-worker"] {
        let answer = sandbox.run(program, &["--drain"], b"").await;
        let said = answer.fails(75, "database_unreachable");
        assert!(said.contains("htm config show"), "{said}");
    }
}

#[tokio::test]
async fn a_worker_refuses_a_configuration_that_it_does_not_understand() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db).set("HTM_JOBS__LEASE_MS", "soon");
    let answer = sandbox.run("embed-worker", &["--drain"], b"").await;
    let said = answer.fails(2, "config_bad_value");
    assert!(said.contains("`jobs.lease_ms`") && said.contains("HTM_JOBS__LEASE_MS"), "{said}");
}

#[tokio::test]
async fn a_killed_worker_is_listed_as_dead_and_the_doctor_says_what_to_do() {
    let db = TestDatabase::new().await;
    let sandbox = impatient(&db);
    let mut worker = sandbox.start("embed-worker", &[]);
    let name = identity(&db, &worker).await;
    worker.signal(Signal::SIGKILL);
    worker.end().await;
    let find = || async {
        let all = workers::list(&db.pool).await.unwrap();
        all.into_iter().find(|worker| worker.id == name).unwrap()
    };
    wait_until(|| async { !find().await.alive }).await;
    remember(&db, "that waits", 3).await;
    let answer = sandbox.htm(&["doctor"]).await;
    let said = &answer.exits(1).stdout;
    assert!(said.contains("htm.embed: 3 due"), "{said}");
    assert!(said.contains("start one: `embed-worker`, or `htm up`"), "{said}");
    // What it left is worked off by the next one.
    sandbox.run("embed-worker", &["--drain"], b"").await.succeeds();
    assert_eq!(depth(&db, Stage::Embed).await.done, 3);
}

#[tokio::test]
async fn up_embeds_and_tags_until_it_is_told_to_stop() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    for signal in [Signal::SIGTERM, Signal::SIGINT] {
        let mut up = sandbox.start("htm", &["up"]);
        // Another text each time: one that is there already is done already.
        let memory = Memory::new(format!("somebody is up until {signal}"));
        let node = db.htm().remember(memory).await.unwrap().node;
        for stage in Stage::ALL {
            db.htm().wait_for(node, stage, Duration::from_secs(60)).await.unwrap();
        }
        up.signal(signal);
        assert_eq!(up.end().await.code(), Some(0), "{}", up.log());
        assert!(workers::list(&db.pool).await.unwrap().is_empty());
        assert!(up.log().contains("HTM is up"), "{}", up.log());
    }
}

#[tokio::test]
async fn up_drains_also_if_nobody_reads_what_it_prints() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    remember(&db, "to drain", 50).await;
    sandbox.shell("htm up --drain | true").await.succeeds();
    assert!(done(&db).await);
}

#[tokio::test]
async fn up_that_drains_ends_by_itself() {
    let db = TestDatabase::new().await;
    // The test's server asks for no password; what matters is that one is not told.
    let sandbox = Sandbox::on(&db.url().replacen("postgres@", "postgres:hunter2@", 1));
    remember(&db, "to drain", 50).await;
    let answer = sandbox.htm(&["up", "--drain", "--set", "log.format=json"]).await;
    assert!(answer.succeeds().starts_with("HTM is up"), "{answer:?}");
    assert!(!answer.stdout.contains("hunter2") && !answer.stderr.contains("hunter2"), "{answer:?}");
    assert!(answer.stderr.starts_with('{'), "`--set` after `up` counts: {answer:?}");
    assert!(done(&db).await);
    assert_eq!(db.count("select count(*) from htm.completions").await, 100);
}
