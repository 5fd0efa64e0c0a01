//! The same text again: where it is the same memory, and where it is another event.

use htm_core::{
    Caller, Confirmation, Deduplicate, Htm, Memory, Outcome, RecallQuery, Receipt, Settings, Strategy,
};
use htm_tests::{TestDatabase, wait_until};

const NODES: &str = "select count(*) from htm.nodes where deleted_at is null";

fn handle(db: &TestDatabase, deduplicate: Deduplicate) -> Htm {
    let settings = Settings { deduplicate, ..db.htm().settings().clone() };
    Htm::with_pool(db.pool.clone(), settings, None)
}

fn outcomes(results: &[htm_core::Result<Receipt>]) -> Vec<Outcome> {
    results.iter().map(|result| result.as_ref().unwrap().outcome).collect()
}

#[tokio::test]
async fn what_is_remembered_again_is_counted() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let fact = |robot: &str| Memory::new("Mara prefers tabs.").robot(robot);
    let first = htm.remember(fact("ada")).await.unwrap();
    assert_eq!(first.outcome, Outcome::Written);
    let node = htm.get(first.node).await.unwrap();
    assert_eq!((node.remember_count, node.first_remembered), (1, node.last_remembered));
    for (robot, tag) in [("ada", "a:tag"), ("bob", "a:tag"), ("bob", "b:tag")] {
        let again = htm.remember(fact(robot).tag(tag.parse().unwrap())).await.unwrap();
        assert_eq!((again.node, again.outcome), (first.node, Outcome::Repeated));
    }
    let node = htm.get(first.node).await.unwrap();
    assert_eq!(node.remember_count, 4);
    assert!(node.last_remembered > node.first_remembered);
    assert_eq!((node.robot.as_str(), node.tags.len()), ("ada", 2));
    let recalled = htm.recall(&RecallQuery::new("tabs").strategy(Strategy::Fulltext)).await.unwrap();
    assert_eq!(recalled.hits[0].node, node);
    // Who said it how often is known.
    let by_robot: Vec<(String, i64)> = sqlx::query_as(
        "select name, count from htm.repeats p join htm.robots r on r.id = p.robot_id order by 1",
    )
    .fetch_all(&db.pool)
    .await
    .unwrap();
    assert_eq!(by_robot, [("ada".into(), 1), ("bob".into(), 2)]);
    assert_eq!(db.count("select count(*) from apalis.jobs").await, 2);
    // Elsewhere it is another memory.
    let elsewhere = htm.remember(fact("ada").namespace("atlas")).await.unwrap();
    assert_eq!(elsewhere.outcome, Outcome::Written);
}

#[tokio::test]
async fn an_event_is_never_a_duplicate() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let thanks = || Memory::new("Thanks!");
    let events = [
        thanks(),
        thanks().key("k"),
        thanks().key("l"),
        thanks().at("2026-03-01T12:00:00Z".parse().unwrap()),
        thanks().at("2026-03-02T12:00:00Z".parse().unwrap()),
        Memory { session: Some("s".into()), ..thanks() },
        Memory { session: Some("s".into()), ..thanks() },
        Memory { speaker: Some("Ada".into()), ..thanks() },
    ];
    for event in &events {
        assert_eq!(htm.remember(event.clone()).await.unwrap().outcome, Outcome::Written);
    }
    // All of them again: a key and its content are there, nothing is counted; the plain one is remembered again.
    let again = outcomes(&htm.remember_many(&events).await.unwrap());
    assert_eq!(again[..3], [Outcome::Repeated, Outcome::Existing, Outcome::Existing]);
    assert!(again[3..].iter().all(|outcome| *outcome == Outcome::Written));
    assert_eq!(db.count(NODES).await, 13);
    assert_eq!(db.count("select sum(count)::bigint from htm.repeats").await, 1);
}

#[tokio::test]
async fn where_a_text_may_stand_once_is_configured() {
    for (deduplicate, nodes) in [(Deduplicate::Off, 4), (Deduplicate::Robot, 2), (Deduplicate::Namespace, 1)]
    {
        let db = TestDatabase::new().await;
        let htm = handle(&db, deduplicate);
        for robot in ["ada", "bob", "ada", "bob"] {
            htm.remember(Memory::new("the same").robot(robot)).await.unwrap();
        }
        assert_eq!(db.count(NODES).await, nodes, "{deduplicate:?}");
        let counted = "select coalesce(sum(count), 0)::bigint from htm.repeats";
        assert_eq!(db.count(counted).await, 4 - nodes, "{deduplicate:?}");
    }
}

#[tokio::test]
async fn sixteen_at_once_make_one_node_and_all_are_counted() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let writes = (0..16).map(|n| {
        let htm = htm.clone();
        tokio::spawn(async move {
            let memory = Memory::new("said at once").robot(format!("r{}", n % 2));
            let memory = if n % 4 == 0 { memory.tag("a:tag".parse().unwrap()) } else { memory };
            htm.remember(memory).await.unwrap()
        })
    });
    let receipts: Vec<_> = futures::future::join_all(writes).await.into_iter().map(Result::unwrap).collect();
    assert_eq!(receipts.iter().filter(|receipt| receipt.outcome == Outcome::Written).count(), 1);
    assert!(receipts.iter().all(|receipt| receipt.node == receipts[0].node));
    assert_eq!(htm.get(receipts[0].node).await.unwrap().remember_count, 16);
    assert_eq!((db.count(NODES).await, db.count("select count(*) from apalis.jobs").await), (1, 2));
}

#[tokio::test]
async fn batches_of_the_same_texts_in_any_order_do_not_block_each_other() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let texts: Vec<Memory> = (0..300).map(|n| Memory::new(format!("fact {n}"))).collect();
    let batches = (0..6).map(|n| {
        let (htm, mut texts) = (htm.clone(), texts.clone());
        texts.rotate_left(n * 50);
        if n % 2 == 0 {
            texts.reverse();
        }
        tokio::spawn(async move { htm.remember_many(&texts).await.unwrap() })
    });
    let results: Vec<_> =
        futures::future::join_all(batches).await.into_iter().flat_map(Result::unwrap).collect();
    let written = outcomes(&results).into_iter().filter(|outcome| *outcome == Outcome::Written).count();
    assert_eq!((written, results.len()), (300, 1_800));
    assert_eq!(
        (db.count(NODES).await, db.count("select sum(count)::bigint from htm.repeats").await),
        (300, 1_500)
    );
}

#[tokio::test]
async fn a_batch_may_say_the_same_several_times() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let memories = [
        Memory::new("one"),
        Memory::new("two"),
        Memory::new("one").tag("a:tag".parse().unwrap()),
        Memory::new(""),
        Memory::new("one").robot("ada"),
        Memory::new("one").key("k"),
        Memory::new("three").key("k"),
    ];
    let results = htm.remember_many(&memories).await.unwrap();
    let said: Vec<_> = results
        .iter()
        .map(|result| match result {
            Ok(receipt) => format!("{:?}", receipt.outcome),
            Err(error) => error.code().into(),
        })
        .collect();
    let expected = ["Written", "Written", "Repeated", "content_empty", "Repeated", "Written", "key_taken"];
    assert_eq!(said, expected);
    let one = results[0].as_ref().unwrap().node;
    assert_eq!(results[2].as_ref().unwrap().node, one);
    let one = htm.get(one).await.unwrap();
    assert_eq!((one.remember_count, one.tags.len()), (3, 1));
}

#[tokio::test]
async fn a_repeat_commits_or_vanishes_with_the_callers_transaction() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let node = htm.remember(Memory::new("again and again")).await.unwrap().node;
    for (commit, count) in [(false, 1), (true, 2)] {
        let mut tx = db.pool.begin().await.unwrap();
        let memory = Memory::new("again and again").tag("a:tag".parse().unwrap());
        let pending = htm.remember_in_tx(&mut tx, memory).await.unwrap();
        assert_eq!(pending.receipt(), Receipt { node, outcome: Outcome::Repeated, seq: None });
        if commit {
            tx.commit().await.unwrap();
            pending.notify();
        } else {
            tx.rollback().await.unwrap();
        }
        let found = htm.get(node).await.unwrap();
        assert_eq!((found.remember_count, found.tags.len()), (count, count as usize - 1));
    }
}

/// A statement of another connection waits for a lock.
async fn until_blocked(db: &TestDatabase) {
    let blocked = "select count(*) from pg_stat_activity
                    where datname = current_database() and wait_event_type = 'Lock'";
    wait_until(|| async { db.count(blocked).await == 1 }).await;
}

#[tokio::test]
async fn what_is_forgotten_at_the_same_moment_is_written_anew() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let first = htm.remember(Memory::new("now you see it")).await.unwrap().node;
    for _ in 0..2 {
        let mut tx = db.pool.begin().await.unwrap();
        let forget = "update htm.nodes set deleted_at = now() where deleted_at is null";
        sqlx::query(forget).execute(&mut *tx).await.unwrap();
        let again = tokio::spawn({
            let htm = htm.clone();
            async move { htm.remember(Memory::new("now you see it")).await }
        });
        until_blocked(&db).await;
        tx.commit().await.unwrap();
        let again = again.await.unwrap().unwrap();
        assert_eq!(again.outcome, Outcome::Written);
        assert_ne!(again.node, first);
        assert_eq!(htm.get(again.node).await.unwrap().remember_count, 1);
    }
}

#[tokio::test]
async fn a_node_is_read_as_it_is_at_one_moment() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let node = htm.remember(Memory::new("now you see it")).await.unwrap().node;
    let mut tx = db.pool.begin().await.unwrap();
    // The number of its repeats cannot be read yet.
    let forget = "lock table htm.repeats; update htm.nodes set deleted_at = now()";
    sqlx::raw_sql(forget).execute(&mut *tx).await.unwrap();
    let read = tokio::spawn({
        let htm = htm.clone();
        async move { htm.get(node).await }
    });
    until_blocked(&db).await;
    tx.commit().await.unwrap();
    assert_eq!(read.await.unwrap().unwrap_err().code(), "node_not_found");
}

#[tokio::test]
async fn a_robot_that_is_removed_at_the_same_moment_is_registered_again() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    htm.remember(Memory::new("one").robot("ghost")).await.unwrap();
    htm.remember(Memory::new("known to all").robot("other")).await.unwrap();
    sqlx::query("delete from htm.nodes where content = 'one'").execute(&db.pool).await.unwrap();
    // A new memory, one that is said again, and one within a transaction.
    for (text, tag) in [("two", None), ("known to all", None), ("three", Some("a:tag"))] {
        let mut tx = db.pool.begin().await.unwrap();
        let remove = "delete from htm.robots where name = 'ghost'";
        sqlx::query(remove).execute(&mut *tx).await.unwrap();
        let write = tokio::spawn({
            let htm = htm.clone();
            let mut memory = Memory::new(text).robot("ghost");
            memory.tags.extend(tag.map(|tag| tag.parse().unwrap()));
            async move { htm.remember(memory).await }
        });
        until_blocked(&db).await;
        tx.commit().await.unwrap();
        write.await.unwrap().unwrap();
        sqlx::query("delete from htm.repeats").execute(&db.pool).await.unwrap();
        sqlx::query("delete from htm.nodes where content in ('two', 'three')")
            .execute(&db.pool)
            .await
            .unwrap();
    }
}

#[tokio::test]
async fn a_key_of_content_that_is_there_without_one_is_a_node() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let plain = htm.remember(Memory::new("x")).await.unwrap().node;
    let keyed = htm.remember(Memory::new("x").key("k")).await.unwrap().node;
    assert_ne!(plain, keyed);
    assert_eq!(htm.get_by_key(None, "k").await.unwrap().unwrap().id, keyed);
    assert_eq!(htm.remember(Memory::new("x")).await.unwrap().node, plain);
    // The content is free when its node is forgotten, and then it cannot come back beside the new one.
    htm.forget(plain, &Caller::Handle, Confirmation::Confirmed).await.unwrap();
    let anew = htm.remember(Memory::new("x")).await.unwrap();
    assert_eq!(anew.outcome, Outcome::Written);
    let error = htm.restore(plain, &Caller::Handle).await.unwrap_err();
    assert_eq!(error.code(), "content_taken");
    assert!(error.hint().contains(&anew.node.to_string()), "{}", error.hint());
}
