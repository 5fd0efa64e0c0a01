//! Acks in a database that has no statistics yet.

use htm_core::{Memory, Stage};
use htm_tests::{Plans, TestDatabase, drain, explained};

#[tokio::test]
async fn acks_find_former_completions_by_their_nodes() {
    let mut db = TestDatabase::new().await;
    let options = explained(db.options());
    db.pool = htm_core::pool_options().max_connections(4).connect_with(options).await.unwrap();
    let plans = Plans::collect();
    for number in 0..3 {
        db.htm().remember(Memory::new(format!("memory {number}"))).await.unwrap();
    }
    drain(&db, Stage::Embed).await;
    drain(&db, Stage::Tag).await;
    let mut acks = plans.take();
    acks.retain(|plan| plan.sql.contains("delete from htm.completions"));
    assert!(acks.len() >= 2, "an ack of each stage");
    for plan in acks {
        assert!(!plan.to_string().contains("completions_model_idx"), "{plan}");
    }
}
