//! learn-worker as a process.

use htm_core::Memory;
use htm_core::job::LEARN_QUEUE;
use htm_core::worker::queues;
use htm_tests::{Running, Sandbox, TestDatabase, enqueue_learning, wait_until};
use nix::sys::signal::Signal;
use sqlx::{Connection, PgConnection};

use crate::impatient;

/// The state, the attempts and the holder of the only job that learns.
async fn job(db: &TestDatabase) -> (String, i32, Option<String>) {
    sqlx::query_as("select status, attempts, lock_by from apalis.jobs where job_type = $1")
        .bind(LEARN_QUEUE)
        .fetch_one(&db.pool)
        .await
        .unwrap()
}

/// Keeps workers from reading what they learn from, until the connection is rolled back.
async fn blocker(db: &TestDatabase) -> PgConnection {
    let mut blocker = PgConnection::connect_with(&db.options()).await.unwrap();
    let block = "begin; lock table htm.nodes, htm.recalls in access exclusive mode";
    sqlx::raw_sql(block).execute(&mut blocker).await.unwrap();
    blocker
}

async fn is_registered(db: &TestDatabase, worker: &Running) {
    crate::identity(db, worker).await;
}

#[tokio::test]
async fn draining_learns_each_namespace_once() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    sandbox.run("learn-worker", &["--drain"], b"").await.succeeds();
    for namespace in ["atlas", "home", "atlas"] {
        enqueue_learning(&db, namespace).await;
    }
    let said = sandbox.htm(&["doctor"]).await.exits(1).stdout.clone();
    assert!(said.contains("htm.learn: 2 due"), "{said}");
    assert!(said.contains("start one: `learn-worker`, or `htm up`"), "{said}");

    sandbox.run("learn-worker", &["--drain"], b"").await.succeeds();
    let depth = queues::depth(&db.pool, LEARN_QUEUE).await.unwrap();
    assert_eq!(depth, queues::QueueDepth { done: 2, ..Default::default() });
    let providers = "select count(*) from htm.providers where model = '' or model like '%learn%'";
    assert_eq!(db.count(providers).await, 0, "it calls no provider");
    let listed = sandbox.htm(&["jobs", "list", "--state", "done", "--json"]).await.json();
    assert_eq!(listed[0]["payload"], serde_json::json!({ "v": 1, "namespace": listed[0]["namespace"] }));
    assert_eq!(listed[0]["outcome"], "learnt");
}

#[tokio::test]
async fn a_killed_learner_is_replaced_by_another() {
    let db = TestDatabase::new().await;
    let sandbox = impatient(&db);
    let mut workers = [sandbox.start("learn-worker", &[]), sandbox.start("learn-worker", &[])];
    for worker in &workers {
        is_registered(&db, worker).await;
    }
    let mut blocker = blocker(&db).await;
    enqueue_learning(&db, "atlas").await;
    wait_until(|| async { job(&db).await.0 == "Running" }).await;
    let victims_name = job(&db).await.2.unwrap();
    let is_victim = |worker: &&mut Running| victims_name.contains(&format!("-{}-", worker.pid));
    let victim = workers.iter_mut().find(is_victim).unwrap();
    victim.signal(Signal::SIGKILL);
    assert_eq!(victim.end().await.code(), None);
    wait_until(|| async { job(&db).await.2.as_ref() != Some(&victims_name) }).await;
    sqlx::raw_sql("rollback").execute(&mut blocker).await.unwrap();
    wait_until(|| async { job(&db).await.0 == "Done" }).await;
    assert_eq!(job(&db).await.1, 2, "the attempt of the lost worker counts");
}

#[tokio::test]
async fn sigterm_gives_back_what_is_being_learnt() {
    let db = TestDatabase::new().await;
    let sandbox = impatient(&db).set("HTM_JOBS__GRACE_MS", "50");
    let mut worker = sandbox.start("learn-worker", &[]);
    is_registered(&db, &worker).await;
    let mut blocker = blocker(&db).await;
    enqueue_learning(&db, "atlas").await;
    wait_until(|| async { job(&db).await.0 == "Running" }).await;
    worker.signal(Signal::SIGTERM);
    assert_eq!(worker.end().await.code(), Some(0), "{}", worker.log());
    assert_eq!(job(&db).await, ("Pending".into(), 0, None));
    sqlx::raw_sql("rollback").execute(&mut blocker).await.unwrap();
}

#[tokio::test]
async fn up_learns_beside_embedding_and_tagging() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    db.htm().remember(Memory::new("something to embed and tag")).await.unwrap();
    enqueue_learning(&db, "atlas").await;
    sandbox.htm(&["up", "--drain"]).await.succeeds();
    assert!(crate::done(&db).await);
    assert_eq!(job(&db).await.0, "Done");
}
