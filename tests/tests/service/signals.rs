//! Signals, and exit codes: 0 only after a clean stop.

use htm_tests::{Sandbox, TestDatabase, wait_until};
use nix::sys::signal::Signal;

use crate::{HELD, Served, accept, hold, refuse, remember};

#[tokio::test]
async fn sighup_changes_nothing_and_says_so() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let mut worker = Served::ready(&sandbox, "embed-worker").await;
    for _ in 0..2 {
        worker.process.signal(Signal::SIGHUP);
    }
    wait_until(|| async { worker.process.log().contains("SIGHUP changes nothing") }).await;
    let log = worker.process.log();
    let warning = log.lines().find(|line| line.contains("SIGHUP")).unwrap();
    assert!(warning.contains("\"WARN\"") && warning.contains("restart"), "{warning}");
    remember(&db, 1).await;
    wait_until(|| async { db.count("select count(*) from htm.embeddings_1").await == 1 }).await;
    assert_eq!(worker.get("/readyz").await.0, 200);
    worker.process.signal(Signal::SIGTERM);
    assert_eq!(worker.process.end().await.code(), Some(0));
}

#[tokio::test]
async fn a_worker_that_cannot_give_back_what_it_holds_does_not_end_well() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db).set("HTM_JOBS__GRACE_MS", "100").set("HTM_JOBS__LEASE_MS", "1000");
    let mut worker = Served::ready(&sandbox, "embed-worker").await;
    let _blocker = hold(&db, 3).await;
    refuse(&db).await;
    worker.process.signal(Signal::SIGTERM);
    let code = worker.process.end().await.code();
    assert!(code.is_some_and(|code| code != 0), "{code:?}: {}", worker.process.log());
    assert!(worker.process.log().contains("error[database_"), "{}", worker.process.log());
    // Nothing is lost all the same: the next worker takes it back when the lease has run out.
    accept(&db).await;
    assert_eq!(db.count(HELD).await, 3);
    sandbox.run("embed-worker", &["--drain"], b"").await.succeeds();
    assert_eq!(db.count("select count(*) from apalis.jobs where status = 'Done'").await, 3);
}
