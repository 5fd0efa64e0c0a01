//! What is in progress while a memory is erased: workers, background saves, groups, exports, other programs' caches, and
//! old transactions.

use std::time::Duration;

use htm_core::job::Payload;
use htm_core::provider::{ModelName, TagOrigin, TagSuggestion};
use htm_core::worker::embeddings;
use htm_core::worker::jobs::{self, Embedded, Failed, Superseded, Tagged, TaggedBy, Verdict};
use htm_core::{
    Confirmation, ContextOptions, Edit, Erase, ExportOptions, JoinOptions, Memory, RecallQuery, Stage,
};
use htm_tests::{TestDatabase, drain, wait_until};

use super::{claim, erase, tables_with};

#[tokio::test]
async fn a_worker_with_its_jobs_writes_nothing() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let model = embeddings::register_model(&db.pool, &ModelName::new("fake", "held"), 4).await.unwrap();
    let mut nodes = Vec::new();
    for n in 0..3 {
        nodes.push(htm.remember(Memory::new(format!("zeppelin {n}"))).await.unwrap().node);
    }
    let (lease, claimed) = claim(&db, model.queue.as_deref().unwrap(), &model.label, "holder").await;
    assert_eq!(claimed.len(), 3);
    let erased = htm.erase(&Erase::Memories(nodes.clone()), None, Confirmation::Confirmed).await.unwrap();
    assert_eq!(erased.removed["apalis.jobs"], 6, "the running ones too");
    let job = |at: usize| claimed[at].id.clone();
    let result = Embedded { job: job(0), node: nodes[0], revision: 1, embedding: vec![0.5; 4], parts: 1 };
    assert_eq!(jobs::ack_embedded(&db.pool, &lease, &model, &[result]).await.unwrap(), 0);
    let reason = "provider_refused_text: no\nzeppelin".to_owned();
    let failed = Failed { job: job(1), reason, verdict: Verdict::Dead };
    assert_eq!(jobs::fail(&db.pool, &lease, &[failed], Duration::from_secs(60)).await.unwrap().len(), 0);
    let gone = Superseded { job: job(2), node: nodes[2], revision: 1 };
    assert_eq!(jobs::ack_superseded(&db.pool, &lease, &[gone]).await.unwrap().ended, 0);
    assert_eq!(tables_with(&db, "zeppelin").await, [""; 0]);
    assert!(htm.verify_erasure(erased.id, None).await.unwrap().is_clean);
}

/// The receipt is evidence of what its erasure has removed.
#[tokio::test]
async fn the_jobs_of_an_interrupted_erasure_are_on_its_own_receipt() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let first = htm.remember(Memory::new("zeppelin one")).await.unwrap().node;
    let second = htm.remember(Memory::new("zeppelin two")).await.unwrap().node;
    for stage in Stage::ALL {
        drain(&db, stage).await;
    }
    let interrupted =
        htm.begin_erasure(&Erase::Memories(vec![first]), None, Confirmation::Confirmed).await.unwrap();
    let (removed, mut told) = tokio::sync::mpsc::unbounded_channel();
    tokio::select! {
        biased;
        _ = told.recv() => {}
        ended = htm.resume_erasure(interrupted.id, |_| {
            let _ = removed.send(());
        }) => panic!("{ended:?}"),
    }
    assert_eq!(erase(&htm, second).await.removed["apalis.jobs"], 2);
    let jobs = "select count(*) from apalis.jobs where job_type like 'htm.%'";
    assert_eq!(db.count(jobs).await, 2);
    let ended = htm.resume_erasure(interrupted.id, |_| {}).await.unwrap();
    assert_eq!((ended.removed["apalis.jobs"], db.count(jobs).await), (2, 0));
}

/// An ack that has locked its job waits for the node, and the erasure does not wait for the job.
#[tokio::test]
async fn an_ack_at_the_same_moment_is_no_deadlock() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let model = embeddings::register_model(&db.pool, &ModelName::new("fake", "held"), 4).await.unwrap();
    let node = htm.remember(Memory::new("zeppelin")).await.unwrap().node;
    let (lease, claimed) = claim(&db, model.queue.as_deref().unwrap(), &model.label, "holder").await;
    // The ack has its job, and the test has the node.
    let mut holder = db.pool.begin().await.unwrap();
    sqlx::query("select from htm.nodes where id = $1 for update")
        .bind(node.0)
        .execute(&mut *holder)
        .await
        .unwrap();
    let ack = tokio::spawn({
        let (pool, lease, model, job) = (db.pool.clone(), lease, model, claimed[0].id.clone());
        let result = Embedded { job, node, revision: 1, embedding: vec![0.5; 4], parts: 1 };
        async move { jobs::ack_embedded(&pool, &lease, &model, &[result]).await }
    });
    let waiting = "select count(*) from pg_stat_activity
                    where datname = current_database() and wait_event_type = 'Lock'";
    wait_until(async || db.count(waiting).await == 1).await;
    let erasing = tokio::spawn({
        let htm = htm.clone();
        async move { htm.erase(&Erase::Memories(vec![node]), None, Confirmation::Confirmed).await }
    });
    wait_until(async || db.count(waiting).await == 2).await;
    holder.commit().await.unwrap();
    let erased = erasing.await.unwrap().unwrap();
    ack.await.unwrap().unwrap();
    assert!(htm.verify_erasure(erased.id, None).await.unwrap().is_clean);
    assert_eq!(tables_with(&db, "zeppelin").await, [""; 0]);
    assert_eq!(db.count("select count(*) from apalis.jobs where job_type like 'htm.%'").await, 0);
}

#[tokio::test]
async fn what_is_saved_in_the_background_brings_nothing_back() {
    let db = TestDatabase::new().await;
    let (htm, other) = (db.htm(), db.htm());
    let node = htm.remember(Memory::new("zeppelin")).await.unwrap().node;
    let kept = htm.remember(Memory::new("ledger")).await.unwrap().node;
    let robot = htm.robot("ada").await.unwrap();
    robot.recall(&RecallQuery::new("zeppelin")).await.unwrap();
    robot.add(&[node, kept]).await.unwrap();
    // Another program erases it, before the counts and the working memory are saved.
    let erased = erase(&other, node).await;
    assert!(robot.working_memory().iter().any(|entry| entry.node == node), "nobody has told this program");
    robot.touch(node);
    htm.flush().await;
    assert!(other.verify_erasure(erased.id, Some("zeppelin")).await.unwrap().is_clean);
    assert_eq!(db.count("select count(*) from htm.working_memory").await, 1);
    let context = robot.context(&ContextOptions::new(1_000)).await.context.text;
    assert!(!context.contains("zeppelin") && context.contains("ledger"), "{context}");
    robot.close().await.unwrap();
}

#[tokio::test]
async fn other_programs_drop_what_they_have_in_memory() {
    let db = TestDatabase::new().await;
    let (htm, other) = (db.htm(), db.htm());
    let _following = other.follow_erasures();
    let listening = "select count(*) from pg_stat_activity
                      where datname = current_database() and query ilike 'listen%htm_erasures%'";
    wait_until(async || db.count(listening).await == 1).await;
    let node = htm.remember(Memory::new("zeppelin")).await.unwrap().node;
    let robot = other.robot("ada").await.unwrap();
    robot.add(&[node]).await.unwrap();
    let own = htm.robot("bea").await.unwrap();
    own.add(&[node]).await.unwrap();
    erase(&htm, node).await;
    assert!(own.working_memory().is_empty(), "the program that erases has dropped it");
    wait_until(async || robot.working_memory().is_empty()).await;
}

#[tokio::test]
async fn the_members_of_a_group_drop_it() {
    let db = TestDatabase::new().await;
    let (htm, other) = (db.htm(), db.htm());
    let member = other.group("crew").join("ada", JoinOptions::default()).await.unwrap();
    let node = member.remember(Memory::new("zeppelin")).await.unwrap().node;
    assert_eq!(member.entries().await.len(), 1);
    let erased = erase(&htm, node).await;
    wait_until(async || member.entries().await.is_empty()).await;
    member.touch(node).await.unwrap();
    member.remember(Memory::new("ledger")).await.unwrap();
    assert_eq!(member.entries().await.len(), 1);
    member.leave().await.unwrap();
    assert!(htm.verify_erasure(erased.id, None).await.unwrap().is_clean);
}

#[tokio::test]
async fn an_export_ends_when_something_of_it_is_erased() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let node = htm.remember(Memory::new("zeppelin")).await.unwrap().node;
    let of_other = htm.remember(Memory::new("ledger").namespace("other")).await.unwrap().node;
    let of = |namespaces: &[&str]| ExportOptions {
        namespaces: namespaces.iter().map(|it| (*it).to_owned()).collect(),
        ..ExportOptions::default()
    };
    let mut export = htm.export(of(&[])).await.unwrap();
    let mut elsewhere = htm.export(of(&["other"])).await.unwrap();
    erase(&htm, node).await;
    assert_eq!(export.next().await.unwrap_err().code(), "erased_meanwhile");
    assert_eq!(export.next().await.unwrap_err().code(), "export_incomplete", "it is over");
    let lines = String::from_utf8(elsewhere.next().await.unwrap().unwrap()).unwrap();
    assert!(lines.contains("ledger"), "{lines}");
    // The next one begins after the erasure.
    let lines = htm.export(of(&[])).await.unwrap().next().await.unwrap().unwrap();
    let lines = String::from_utf8(lines).unwrap();
    assert!(lines.contains("ledger") && !lines.contains("zeppelin"), "{lines}");
    htm.get(of_other).await.unwrap();
}

#[tokio::test]
async fn a_retry_of_a_write_that_is_being_erased_is_not_done_again() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let operation = htm_core::Operation::new("", "edit-1", b"PATCH zeppelin").unwrap();
    let node = htm.remember(Memory::new("airship")).await.unwrap().node;
    let lease = Duration::from_secs(60);
    assert_eq!(htm.begin_operation(&operation, lease).await.unwrap(), None);
    htm.edit(node, &Edit::new().content("zeppelin")).await.unwrap();
    let body = serde_json::json!({"node": node, "revision": 2}).to_string();
    htm.end_operation(&operation, &serde_json::json!({"status": 200, "headers": [], "body": body}))
        .await
        .unwrap();
    let other = htm_core::Operation::new("", "edit-2", b"PATCH another").unwrap();
    htm.begin_operation(&other, lease).await.unwrap();
    let answer = serde_json::json!({"status": 200, "headers": [], "body": "{\"revision\": 1, \"jobs\": 1}"});
    htm.end_operation(&other, &answer).await.unwrap();
    let erased = erase(&htm, node).await;
    assert_eq!(erased.removed["htm.operations"], 1);
    let again = htm.begin_operation(&operation, lease).await.unwrap_err();
    assert_eq!(again.code(), "operation_erased");
    assert_eq!(htm.begin_operation(&other, lease).await.unwrap(), Some(answer), "it is of no erased memory");
    let digest = "select count(*) from htm.operations where id = 'edit-1' and digest = decode(repeat('00', 32), 'hex')";
    assert_eq!(db.count(digest).await, 1);
}

/// The planner keeps samples of texts, and those of a table that is empty now.
#[tokio::test]
async fn the_planner_s_samples_are_made_anew() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let nodes: Vec<_> = futures::future::join_all(
        (0..20).map(async |n| htm.remember(Memory::new(format!("zeppelin {n}"))).await.unwrap().node),
    )
    .await;
    sqlx::query("analyze").execute(&db.pool).await.unwrap();
    let samples =
        "select count(*) from pg_stats where schemaname = 'htm' and histogram_bounds::text like '%zeppelin%'";
    assert_ne!(db.count(samples).await, 0);
    let begun = htm.begin_erasure(&Erase::Memories(nodes), None, Confirmation::Confirmed).await.unwrap();
    htm.resume_erasure(begun.id, |_| {}).await.unwrap();
    let verified = htm.verify_erasure(begun.id, Some("zeppelin")).await.unwrap();
    let found = verified.places.last().unwrap();
    assert_eq!(found.table, "pg_catalog.pg_statistic");
    assert!(found.traces > 0 && found.mentions.is_some_and(|columns| columns > 0), "{found:?}");
    assert!(!verified.is_clean);
    htm.vacuum_erased(begun.id).await.unwrap();
    let verified = htm.verify_erasure(begun.id, Some("zeppelin")).await.unwrap();
    if !crate::clears_samples(&db).await {
        // They stay while the table is empty, and the verification says so.
        assert!(!verified.is_clean && verified.places.last().unwrap().traces > 0, "{verified:?}");
        return;
    }
    assert!(verified.is_clean, "{verified:?}");
    assert_eq!(db.count(samples).await, 0);
}

#[tokio::test]
async fn an_old_transaction_keeps_vacuum_from_freeing_the_rows_and_the_receipt_says_so() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let [first, second] = [
        htm.remember(Memory::new("zeppelin one")).await.unwrap().node,
        htm.remember(Memory::new("zeppelin two")).await.unwrap().node,
    ];
    let mut old = db.pool.begin_with("begin isolation level repeatable read, read only").await.unwrap();
    let seen: i64 = sqlx::query_scalar("select count(*) from htm.nodes").fetch_one(&mut *old).await.unwrap();
    assert_eq!(seen, 2);
    let held = erase(&htm, first).await;
    let vacuum = held.vacuum.unwrap();
    assert_eq!(vacuum.older_transactions, Some(1));
    assert!(!vacuum.is_complete());
    old.commit().await.unwrap();
    let freed = erase(&htm, second).await.vacuum.unwrap();
    assert!(freed.is_complete(), "{freed:?}");
    assert!(freed.tables.contains(&"htm.nodes".to_owned()) && freed.not_permitted.is_empty(), "{freed:?}");
    // The first one can be done again.
    assert!(htm.vacuum_erased(held.id).await.unwrap().vacuum.unwrap().is_complete());
    let verified = htm.verify_erasure(held.id, None).await.unwrap();
    let nodes = verified.places.iter().find(|place| place.table == "htm.nodes").unwrap();
    assert!(nodes.vacuumed_at.is_some());
    // The log before the erasure is read after a crash until there is a checkpoint after it.
    sqlx::query("checkpoint").execute(&db.pool).await.unwrap();
    let verified = htm.verify_erasure(held.id, None).await.unwrap();
    assert!(verified.is_behind_checkpoint, "{verified:?}");
}

/// A tag is made of a text, and is a row of its own.
#[tokio::test]
async fn a_tagger_with_a_job_leaves_no_tag() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let mut nodes = Vec::new();
    for text in ["The zeppelin lands.", "The ledger is full.", "The balloon lands."] {
        nodes.push(htm.remember(Memory::new(text)).await.unwrap().node);
    }
    let (lease, claimed) = claim(&db, Stage::Tag.queue(), "fake/scripted", "holder").await;
    htm.edit(nodes[2], &Edit::new().content("The balloon is away.")).await.unwrap();
    let erased = erase(&htm, nodes[0]).await;
    let suggested = ["ship:zeppelin", "book:ledger", "ship:balloon"];
    let results: Vec<Tagged> = claimed
        .iter()
        .map(|job| {
            let node = Payload::decode(&job.payload).unwrap().node;
            let at = nodes.iter().position(|it| *it == node).unwrap();
            let tags = vec![TagSuggestion { path: suggested[at].parse().unwrap(), confidence: None }];
            Tagged { job: job.id.clone(), node, namespace: "default".into(), revision: 1, tags }
        })
        .collect();
    let model = ModelName::new("fake", "scripted");
    let by = TaggedBy {
        model: &model,
        version: "1",
        origin: TagOrigin::Llm,
        rules: &htm_core::TagRules::default(),
    };
    assert_eq!(jobs::ack_tagged(&db.pool, &lease, by, &results).await.unwrap(), 2, "one was erased");
    let tags: Vec<String> =
        sqlx::query_scalar("select path from htm.tags order by 1").fetch_all(&db.pool).await.unwrap();
    assert_eq!(tags, ["book", "book:ledger"]);
    assert_eq!(db.count("select count(*) from htm.node_tags").await, 1);
    assert_eq!(tables_with(&db, "zeppelin").await, [""; 0]);
    assert!(htm.verify_erasure(erased.id, None).await.unwrap().is_clean);
}

/// A count of the words of a large namespace takes seconds, and is written at its end.
#[tokio::test]
async fn a_count_of_words_brings_none_back() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    htm.remember(Memory::new("zeppelin").namespace("doomed")).await.unwrap();
    let mut count = db.pool.begin().await.unwrap();
    sqlx::query("select pg_advisory_xact_lock(hashtextextended('htm.statistics/doomed', 0))")
        .execute(&mut *count)
        .await
        .unwrap();
    let erasing = tokio::spawn({
        let htm = htm.clone();
        async move { htm.erase(&Erase::Namespace("doomed".into()), None, Confirmation::Confirmed).await }
    });
    let waiting = "select count(*) from pg_stat_activity
                    where datname = current_database() and wait_event_type = 'Lock'";
    wait_until(async || db.count(waiting).await == 1).await;
    let write =
        "insert into htm.lexeme_statistics (namespace, lexeme, node_count) values ('doomed', 'zeppelin', 1)";
    sqlx::query(write).execute(&mut *count).await.unwrap();
    count.commit().await.unwrap();
    let erased = erasing.await.unwrap().unwrap();
    assert_eq!(tables_with(&db, "zeppelin").await, [""; 0]);
    assert!(htm.verify_erasure(erased.id, None).await.unwrap().is_clean);
    // One that was there all the same is found, and goes when the erasure is done again.
    sqlx::query(write).execute(&db.pool).await.unwrap();
    assert!(!htm.verify_erasure(erased.id, None).await.unwrap().is_clean);
    htm.resume_erasure(erased.id, |_| {}).await.unwrap();
    assert!(htm.verify_erasure(erased.id, None).await.unwrap().is_clean);
    for table in ["htm.lexeme_statistics", "htm.namespace_statistics"] {
        assert!(!tables_with(&db, "doomed").await.contains(&table.to_owned()), "{table}");
    }
}
