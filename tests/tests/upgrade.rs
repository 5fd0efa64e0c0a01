//! A rolling upgrade: the database first, then the fleet, program by program. `upgrade/next.sql` is a next version of
//! the schema for the programs of this version. The programs of the last release are those that `./justw test-upgrade` builds.

use std::path::PathBuf;

use htm_core::Stage;
use htm_core::worker::queues;
use htm_migration as migration;
use htm_tests::{Sandbox, TestDatabase, wait_until};

#[tokio::test]
async fn the_fleet_goes_on_while_the_database_is_migrated() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db).set("HTM_JOBS__POLL_MS", "50");
    let _workers =
        [sandbox.start("embed-worker", &["--batch", "4"]), sandbox.start("tag-worker", &["--batch", "4"])];
    let htm = db.htm();
    for n in 0..100 {
        if n == 50 {
            sqlx::raw_sql(include_str!("upgrade/next.sql")).execute(&db.pool).await.unwrap();
        }
        htm.remember(htm_core::Memory::new(format!("written during the upgrade {n}"))).await.unwrap();
    }
    for stage in Stage::ALL {
        wait_until(|| async { queues::depth(&db.pool, stage.queue()).await.unwrap().open() == 0 }).await;
    }
    assert_eq!(db.count("select count(*) from htm.embeddings_1").await, 100);
    assert_eq!(db.count("select count(*) from htm.completions").await, 200);
    assert_eq!(db.count("select count(*) from apalis.jobs where status = 'Killed'").await, 0);
    assert_eq!(queues::count_stranded(&db.pool).await.unwrap(), 0);
}

#[tokio::test]
async fn a_program_works_on_a_schema_that_is_a_step_ahead_while_that_serves_it() {
    let db = TestDatabase::new().await;
    sqlx::raw_sql(include_str!("upgrade/next.sql")).execute(&db.pool).await.unwrap();
    let sandbox = Sandbox::new(&db);
    sandbox.remember(&["still served"]).await;
    let answer = sandbox.run("embed-worker", &["--drain"], b"").await;
    answer.succeeds();
    assert!(format!("{answer:?}").contains("the database is newer than this program"), "{answer:?}");
    // To migrate with a program of this version changes nothing.
    sandbox.htm(&["db", "migrate"]).await.succeeds();
    assert_eq!(db.count("select count(*) from htm.seaql_migrations").await, i64::from(migration::LATEST) + 1);
    sqlx::query("update htm.compatibility set oldest_program = $1")
        .bind(migration::LATEST as i32 + 1)
        .execute(&db.pool)
        .await
        .unwrap();
    for answer in [sandbox.run("embed-worker", &["--drain"], b"").await, sandbox.htm(&["recall", "x"]).await]
    {
        assert!(answer.fails(1, "schema_version").contains("upgrade this program"), "{answer:?}");
    }
}

#[tokio::test]
async fn a_program_that_is_ahead_of_the_database_asks_for_the_migration() {
    let db = TestDatabase::empty().await;
    let sandbox = Sandbox::new(&db);
    for answer in [sandbox.run("embed-worker", &["--drain"], b"").await, sandbox.htm(&["recall", "x"]).await]
    {
        assert!(answer.fails(1, "schema_version").contains("htm db migrate"), "{answer:?}");
    }
    sandbox.htm(&["db", "migrate"]).await.succeeds();
    sandbox.remember(&["served now"]).await;
}

/// Waits until no job of these stages is open.
async fn are_drained(db: &TestDatabase, stages: &[Stage]) {
    wait_until(|| async {
        let mut open = 0;
        for stage in stages {
            open += queues::depth(&db.pool, stage.queue()).await.unwrap().open();
        }
        open == 0
    })
    .await;
}

async fn content(sandbox: &Sandbox, node: &str) -> serde_json::Value {
    sandbox.htm(&["--json", "get", node]).await.json()["content"].take()
}

#[tokio::test]
async fn programs_of_the_last_release_go_on_in_the_schema_of_this_version() {
    let Some(programs) = std::env::var_os("HTM_LAST_RELEASE") else {
        htm_tests::skipped("no programs of the last release; `./justw test-upgrade` builds them");
        return;
    };
    let db = TestDatabase::empty().await;
    let old = Sandbox::of_programs(PathBuf::from(programs), &db.url()).set("HTM_JOBS__POLL_MS", "50");
    let new = Sandbox::new(&db).set("HTM_JOBS__POLL_MS", "50");

    old.htm(&["db", "migrate"]).await.succeeds();
    let edited = old.remember(&["a zeppelin at anchor"]).await;
    old.htm(&["edit", &edited, "a zeppelin aloft"]).await.succeeds();
    let forgotten = old.remember(&["a secret"]).await;
    old.htm(&["forget", &forgotten, "--yes"]).await.succeeds();
    let embedder = old.start("embed-worker", &["--batch", "4"]);
    let tagger = old.start("tag-worker", &["--batch", "4"]);
    let writes = async {
        for n in 0..20 {
            old.remember(&[&format!("during the migration {n}")]).await;
        }
    };
    let ((), migrated) = tokio::join!(writes, new.htm(&["db", "migrate"]));
    migrated.succeeds();

    // The old programs read, write and work in the new schema, beside the new ones.
    for n in 0..10 {
        old.remember(&[&format!("by the old program {n}")]).await;
        new.remember(&[&format!("by the new program {n}")]).await;
    }
    are_drained(&db, &Stage::ALL).await;
    assert_eq!(content(&new, &edited).await, "a zeppelin aloft");
    new.htm(&["edit", &edited, "a zeppelin lands"]).await.succeeds();
    assert_eq!(content(&old, &edited).await, "a zeppelin lands");
    old.htm(&["restore", &forgotten]).await.succeeds();
    assert_eq!(content(&new, &forgotten).await, "a secret");
    for sandbox in [&old, &new] {
        for strategy in ["vector", "fulltext", "hybrid"] {
            let recall = ["--json", "recall", "during the migration 7", "--strategy", strategy];
            let answer = sandbox.htm(&recall).await.json();
            assert_eq!(answer["hits"][0]["content"], "during the migration 7", "{answer}");
        }
    }

    // The fleet follows, program by program: each new worker finds jobs of the old programs.
    drop(tagger);
    for n in 0..10 {
        old.remember(&[&format!("for new workers {n}")]).await;
    }
    are_drained(&db, &[Stage::Embed]).await;
    drop(embedder);
    for n in 10..20 {
        old.remember(&[&format!("for new workers {n}")]).await;
    }
    for worker in ["embed-worker", "tag-worker"] {
        new.run(worker, &["--drain"], b"").await.succeeds();
    }
    are_drained(&db, &Stage::ALL).await;
    assert_eq!(new.htm(&["jobs", "audit"]).await.succeeds(), "0 stranded\n");
    assert_eq!(db.count("select count(*) from htm.nodes where deleted_at is null").await, 62);
    assert_eq!(db.count("select count(*) from htm.embeddings_1").await, 62);
    assert_eq!(db.count("select count(*) from apalis.jobs where status = 'Killed'").await, 0);
}
