//! Workers in a database that has no statistics yet, or those of an emptier one.

use std::time::Duration;

use htm_core::worker::jobs::{self, Failed, Verdict};
use htm_core::worker::statistics;
use htm_core::{Memory, Stage};
use htm_tests::{Plan, Plans, Sandbox, TestDatabase, drain, explained, wait_until};
use sqlx::Connection;

/// Indexes by which a statement about a few nodes would read all of a stage, a namespace, a robot or a worker.
const OF_MANY: [&str; 5] = [
    "completions_model_idx",
    "nodes_language_idx",
    "nodes_robot_idx",
    "idx_apalis_jobs_lock_by",
    "jobs_htm_open_idx",
];

#[tokio::test]
async fn ends_of_jobs_read_what_they_end_and_nothing_else() {
    let mut db = TestDatabase::new().await;
    db.without_autovacuum().await;
    // Small tables are read whole: what would be looked up in large ones shows without.
    let options = explained(db.options()).options([("enable_seqscan", "off")]);
    db.pool = htm_core::pool_options().max_connections(1).connect_with(options).await.unwrap();
    let plans = Plans::collect();
    let mut ends = Vec::new();
    // Six times a statement is planned for its values, then once for all.
    for round in 0..8 {
        for number in 0..3 {
            db.htm().remember(Memory::new(format!("memory {number} of round {round}"))).await.unwrap();
        }
        drain(&db, Stage::Embed).await;
        drain(&db, Stage::Tag).await;
        db.htm().remember(Memory::new(format!("one that fails in round {round}"))).await.unwrap();
        let (lease, claimed) = super::claim_as(&db, "failing").await;
        let failed = |job: &jobs::Claimed| Failed {
            job: job.id.clone(),
            reason: "a test".into(),
            verdict: Verdict::Dead,
        };
        let failures: Vec<Failed> = claimed.iter().map(failed).collect();
        assert_eq!(jobs::fail(&db.pool, &lease, &failures, Duration::MAX).await.unwrap().len(), 1);
        let is_end = |plan: &Plan| {
            ["delete from htm.completions", "f.reason"].iter().any(|part| plan.sql.contains(part))
        };
        ends.extend(plans.take().into_iter().filter(is_end));
    }
    assert!(ends.len() >= 24, "an ack of each stage and a failure in each round");
    for plan in ends {
        let text = plan.to_string();
        let (_, ran) = text.split_once(&plan.sql).unwrap();
        assert!(!OF_MANY.iter().any(|index| ran.contains(index)), "{plan}");
        assert_eq!(
            plan.whole().iter().filter(|table| ["jobs", "nodes"].contains(table)).count(),
            0,
            "{plan}"
        );
    }
}

#[tokio::test]
async fn tables_that_have_grown_are_analyzed() {
    let mut db = TestDatabase::new().await;
    db.without_autovacuum().await;
    db.pool = htm_core::pool_options().max_connections(1).connect_with(db.options()).await.unwrap();
    // The server counts rows a moment after they are committed.
    let analyze = async || {
        sqlx::query("select pg_stat_force_next_flush()").execute(&db.pool).await.unwrap();
        statistics::analyze_grown(&db.pool).await.unwrap()
    };
    let counted = async |table: &str| {
        let count = "select reltuples::bigint from pg_class where oid = $1::regclass";
        sqlx::query_scalar::<_, i64>(count).bind(table).fetch_one(&db.pool).await.unwrap()
    };
    let texts: Vec<Memory> = (0..500).map(|number| Memory::new(format!("memory {number}"))).collect();
    db.htm().remember_many(&texts).await.unwrap();
    assert!(analyze().await >= 2);
    assert_eq!((counted("htm.nodes").await, counted("apalis.jobs").await), (500, 1_000));
    // A table that has not doubled is left alone.
    db.htm().remember(Memory::new("one more")).await.unwrap();
    assert_eq!((analyze().await, counted("htm.nodes").await), (0, 500));

    // What another transaction has not committed is not there yet: a table of it would be taken as empty.
    let mut loading = sqlx::PgConnection::connect_with(&db.options()).await.unwrap();
    sqlx::raw_sql("begin; insert into htm.robots (namespace, name) select 'fleet', 'robot ' || g from generate_series(1, 9000) g")
        .execute(&mut loading)
        .await
        .unwrap();
    assert_eq!(analyze().await, 0);
    assert_eq!(counted("htm.robots").await, 1);
    sqlx::raw_sql("commit; select pg_stat_force_next_flush()").execute(&mut loading).await.unwrap();
    assert_eq!((analyze().await, counted("htm.robots").await), (1, 9_001));

    // A table that something else has locked is passed over, and its turn comes.
    sqlx::query(
        "insert into htm.tags (namespace, path) select 'default', 'tag-' || g from generate_series(1, 500) g",
    )
    .execute(&db.pool)
    .await
    .unwrap();
    sqlx::raw_sql("begin; lock table htm.tags in share update exclusive mode")
        .execute(&mut loading)
        .await
        .unwrap();
    assert_eq!(analyze().await, 0);
    sqlx::raw_sql("commit").execute(&mut loading).await.unwrap();
    assert_eq!((analyze().await, counted("htm.tags").await), (1, 500));
    let known =
        "select count(*) from pg_stats where schemaname = 'htm' and tablename in ('nodes', 'robots', 'tags')
                    and attname = 'namespace'";
    assert_eq!(db.count(known).await, 3);
}

#[tokio::test]
async fn workers_analyze_tables_that_have_grown() {
    let db = TestDatabase::new().await;
    db.without_autovacuum().await;
    let texts: Vec<Memory> = (0..100).map(|number| Memory::new(format!("memory {number}"))).collect();
    db.htm().remember_many(&texts).await.unwrap();
    let _worker = Sandbox::new(&db).start("embed-worker", &[]);
    let counted = "select reltuples::bigint from pg_class where oid = 'htm.nodes'::regclass";
    wait_until(|| async { db.count(counted).await == 100 }).await;
}
