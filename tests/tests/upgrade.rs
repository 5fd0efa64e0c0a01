//! A rolling upgrade: the database first, then the fleet, program by program. `upgrade/next.sql` is a next version of
//! the schema; the programs are those of this version.

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
