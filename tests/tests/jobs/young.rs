//! Workers in a database that has no statistics yet, or those of an emptier one.

use htm_core::worker::statistics;
use htm_core::{Memory, Stage};
use htm_tests::{Plans, TestDatabase, drain, explained};

/// Indexes by which a statement about a few nodes would read all of a stage, a namespace, a robot or a worker.
const OF_MANY: [&str; 4] =
    ["completions_model_idx", "nodes_language_idx", "nodes_robot_idx", "idx_apalis_jobs_lock_by"];

#[tokio::test]
async fn acks_read_what_they_end_and_nothing_else() {
    let mut db = TestDatabase::new().await;
    let options = explained(db.options());
    db.pool = htm_core::pool_options().max_connections(1).connect_with(options).await.unwrap();
    let plans = Plans::collect();
    let mut acks = Vec::new();
    // Six times a statement is planned for its values, then once for all.
    for round in 0..8 {
        for number in 0..3 {
            db.htm().remember(Memory::new(format!("memory {number} of round {round}"))).await.unwrap();
        }
        drain(&db, Stage::Embed).await;
        drain(&db, Stage::Tag).await;
        acks.extend(plans.take().into_iter().filter(|plan| plan.sql.contains("delete from htm.completions")));
    }
    assert!(acks.len() >= 16, "an ack of each stage and round");
    for plan in acks {
        let text = plan.to_string();
        let (_, ran) = text.split_once(&plan.sql).unwrap();
        assert!(!OF_MANY.iter().any(|index| ran.contains(index)), "{plan}");
    }
}

#[tokio::test]
async fn tables_that_have_grown_are_analyzed_by_the_workers() {
    let db = TestDatabase::new().await;
    let texts: Vec<Memory> = (0..500).map(|number| Memory::new(format!("memory {number}"))).collect();
    db.htm().remember_many(&texts).await.unwrap();
    assert!(statistics::analyze_grown(&db.pool).await.unwrap() >= 2);
    let known = "select reltuples::bigint from pg_class where oid = 'htm.nodes'::regclass";
    assert_eq!(db.count(known).await, 500);
    assert_eq!(
        db.count("select reltuples::bigint from pg_class where oid = 'apalis.jobs'::regclass").await,
        1_000
    );
    // What has not grown is left alone, and so is a table that has not doubled.
    assert_eq!(statistics::analyze_grown(&db.pool).await.unwrap(), 0);
    db.htm().remember(Memory::new("one more")).await.unwrap();
    assert_eq!(statistics::analyze_grown(&db.pool).await.unwrap(), 0);
    assert_eq!(db.count(known).await, 500);
}
