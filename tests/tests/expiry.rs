//! Expiry and retention: sweeps forget what has expired, say so, and forget nothing else.

use std::time::Duration;

use chrono::{DateTime, Utc};
use htm_core::worker::expiry;
use htm_core::{
    Caller, Confirmation, Edit, Error, Expiry, FieldChange, ForgetReason, Htm, Memory, NodeId, Outcome,
    Purge, RecallQuery, Retention, Stage, Strategy, Swept,
};
use htm_tests::{Sandbox, TestDatabase, drain, wait_until};

const HOUR: Duration = Duration::from_secs(3_600);

async fn remember(htm: &Htm, text: &str, expires: Option<Expiry>) -> NodeId {
    htm.remember(Memory { expires, ..Memory::new(text) }).await.unwrap().node
}

/// Statements that wait for another transaction.
const WAITING: &str =
    "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";

/// The whole hours from now to a node's expiry.
async fn hours(db: &TestDatabase, node: NodeId) -> Option<i64> {
    sqlx::query_scalar(
        "select round(extract(epoch from expires_at - now()) / 3600)::bigint from htm.nodes where id = $1",
    )
    .bind(node)
    .fetch_one(&db.pool)
    .await
    .unwrap()
}

/// Moves all times of all nodes back.
async fn pass(db: &TestDatabase, hours: i32) {
    sqlx::query(
        "update htm.nodes set expires_at = expires_at - $1, created_at = created_at - $1,
                remembered_at = remembered_at - $1, deleted_at = deleted_at - $1",
    )
    .bind(chrono::Duration::hours(hours.into()))
    .execute(&db.pool)
    .await
    .unwrap();
}

#[tokio::test]
async fn what_has_expired_is_forgotten_with_a_receipt() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let soon = remember(&htm, "soon", Some(Expiry::After(HOUR))).await;
    let fixed = remember(&htm, "fixed", Some(Expiry::At(Utc::now() + HOUR))).await;
    let later = remember(&htm, "later", Some(Expiry::After(48 * HOUR))).await;
    let never = remember(&htm, "never", None).await;
    let elsewhere = Memory::new("elsewhere").namespace("b").expires(Expiry::After(HOUR));
    htm.remember(elsewhere).await.unwrap();
    assert!(htm.sweep().await.unwrap().namespaces.is_empty());
    pass(&db, 2).await;
    // Until the sweep it is there.
    assert_eq!(htm.get(soon).await.unwrap().ttl_seconds, Some(3_600));
    let swept = htm.sweep().await.unwrap();
    let rows: Vec<_> = swept.namespaces.iter().map(|row| (row.namespace.as_str(), row.expired)).collect();
    assert_eq!(rows, [("b", 1), ("default", 2)]);
    assert_eq!(swept.namespaces[1].forgotten.jobs, 4, "the jobs of both are deleted");
    for node in [soon, fixed] {
        assert_eq!(htm.get(node).await.unwrap_err().code(), "node_not_found");
    }
    for node in [later, never] {
        htm.get(node).await.unwrap();
    }
    let forgotten = htm.forgotten(Some("default"), None, 10).await.unwrap();
    assert!(
        forgotten.len() == 2 && forgotten.iter().all(|node| node.reason == ForgetReason::Expired),
        "{forgotten:?}"
    );
    htm.forget(never, &Caller::AnyRobot, Confirmation::Confirmed).await.unwrap();
    assert_eq!(htm.forgotten(Some("default"), None, 1).await.unwrap()[0].reason, ForgetReason::Asked);
    // What is restored stays.
    htm.restore(soon, &Caller::AnyRobot).await.unwrap();
    assert!(htm.sweep().await.unwrap().namespaces.is_empty());
    let restored = htm.get(soon).await.unwrap();
    assert_eq!((restored.expires_at, restored.ttl_seconds), (None, None));
}

#[tokio::test]
async fn a_restore_before_the_expiry_keeps_it() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let node = remember(&htm, "soon", Some(Expiry::After(HOUR))).await;
    htm.forget(node, &Caller::AnyRobot, Confirmation::Confirmed).await.unwrap();
    htm.restore(node, &Caller::AnyRobot).await.unwrap();
    assert_eq!(hours(&db, node).await, Some(1));
}

#[tokio::test]
async fn reading_prolongs_where_that_is_asked() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let lives = remember(&htm, "a lighthouse at dusk", Some(Expiry::After(10 * HOUR))).await;
    let fixed = remember(&htm, "a lighthouse at dawn", Some(Expiry::At(Utc::now() + 10 * HOUR))).await;
    let never = remember(&htm, "a lighthouse at noon", None).await;
    pass(&db, 4).await;
    let query = RecallQuery::new("lighthouse").strategy(Strategy::Fulltext);
    assert_eq!(htm.recall(&query).await.unwrap().hits.len(), 3);
    assert_eq!(hours(&db, lives).await, Some(6));
    htm.recall(&RecallQuery { refresh: true, ..query }).await.unwrap();
    let all = [lives, fixed, never];
    for (node, expected) in all.into_iter().zip([Some(10), Some(6), None]) {
        assert_eq!(hours(&db, node).await, expected, "node {node}");
    }
    pass(&db, 1).await;
    assert_eq!(htm.refresh(&all).await.unwrap(), 1);
    assert_eq!(hours(&db, lives).await, Some(10));
    let stranger = htm.within(["b"]).unwrap();
    assert_eq!(stranger.refresh(&all).await.unwrap_err().code(), "node_not_found");
}

#[tokio::test]
async fn a_robot_that_acts_for_itself_prolongs_nothing_of_others() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let of_bea = Memory::new("a lighthouse at dusk").robot("bea").expires(Expiry::After(10 * HOUR));
    let of_bea = htm.remember(of_bea).await.unwrap().node;
    let of_ada = Memory::new("a lighthouse at dawn").robot("ada").expires(Expiry::After(10 * HOUR));
    let of_ada = htm.remember(of_ada).await.unwrap().node;
    pass(&db, 4).await;
    let ada = htm.acting_as("ada").unwrap();
    assert_eq!(ada.refresh(&[of_ada, of_bea]).await.unwrap(), 1);
    assert_eq!((hours(&db, of_ada).await, hours(&db, of_bea).await), (Some(10), Some(6)));
    pass(&db, 1).await;
    let query = RecallQuery::new("lighthouse").strategy(Strategy::Fulltext);
    assert_eq!(ada.recall(&RecallQuery { refresh: true, ..query }).await.unwrap().hits.len(), 2);
    assert_eq!((hours(&db, of_ada).await, hours(&db, of_bea).await), (Some(10), Some(5)));
}

#[tokio::test]
async fn a_repeat_and_a_sweep_at_the_same_time_lose_nothing() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let keyed = || Memory::new("with a key").key("k");
    let node = remember(&htm, "again", Some(Expiry::After(HOUR))).await;
    htm.remember(keyed().expires(Expiry::After(HOUR))).await.unwrap();
    pass(&db, 2).await;
    // The repeat is first: the sweep leaves what it holds.
    let mut tx = db.pool.begin().await.unwrap();
    let repeated = htm.remember_in_tx(&mut tx, Memory::new("again")).await.unwrap();
    assert_eq!(htm.sweep().await.unwrap().namespaces[0].expired, 1, "the one with the key");
    tx.commit().await.unwrap();
    assert_eq!(repeated.notify().node, node);
    assert_eq!(htm.sweep().await.unwrap().namespaces.len(), 0);
    assert_eq!(htm.get(node).await.unwrap().expires_at, None);

    // The sweep is first: what it forgets is remembered anew.
    let short = || Memory::new("for an hour").expires(Expiry::After(HOUR));
    let nodes = [
        htm.remember(short()).await.unwrap().node,
        htm.remember(keyed().expires(Expiry::After(HOUR))).await.unwrap().node,
    ];
    pass(&db, 2).await;
    let mut sweep = db.pool.begin().await.unwrap();
    let forget = "update htm.nodes set deleted_at = now(), forget_reason = 'expired' where id = any ($1)";
    sqlx::query(forget).bind(&nodes[..]).execute(&mut *sweep).await.unwrap();
    let writing = [short(), keyed()].map(|memory| {
        let htm = htm.clone();
        tokio::spawn(async move { htm.remember(memory).await.unwrap() })
    });
    wait_until(|| async { db.count(WAITING).await == 2 }).await;
    sweep.commit().await.unwrap();
    for written in writing {
        let receipt = written.await.unwrap();
        assert_eq!(receipt.outcome, Outcome::Written);
        assert!(!nodes.contains(&receipt.node));
        htm.get(receipt.node).await.unwrap();
    }
}

#[tokio::test]
async fn a_memory_lasts_for_as_long_as_any_writer_wanted() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let node = remember(&htm, "again", Some(Expiry::After(2 * HOUR))).await;
    for (expires, expected) in [
        (Some(Expiry::After(HOUR)), Some(2)),
        (Some(Expiry::After(5 * HOUR)), Some(5)),
        (Some(Expiry::At(Utc::now() + 9 * HOUR)), Some(9)),
        (None, None),
        (Some(Expiry::After(HOUR)), None),
    ] {
        let receipt = htm.remember(Memory { expires, ..Memory::new("again") }).await.unwrap();
        assert_eq!((receipt.node, receipt.outcome), (node, Outcome::Repeated));
        assert_eq!(hours(&db, node).await, expected, "{expires:?}");
    }
    // What is started again is the longest time to live, and it ends no earlier than before.
    let long = remember(&htm, "prolonged", Some(Expiry::After(90 * HOUR))).await;
    pass(&db, 89).await;
    remember(&htm, "prolonged", Some(Expiry::After(2 * HOUR))).await;
    assert_eq!(hours(&db, long).await, Some(2));
    htm.refresh(&[long]).await.unwrap();
    assert_eq!(hours(&db, long).await, Some(90));
    remember(&htm, "prolonged", Some(Expiry::At(Utc::now() + 99 * HOUR))).await;
    htm.refresh(&[long]).await.unwrap();
    assert_eq!(hours(&db, long).await, Some(99));
    let keyed = |expires| Memory { expires, ..Memory::new("with a key").key("k") };
    let node = htm.remember(keyed(Some(Expiry::After(HOUR)))).await.unwrap().node;
    let many = [keyed(Some(Expiry::After(3 * HOUR))), keyed(Some(Expiry::After(2 * HOUR)))];
    for receipt in htm.remember_many(&many).await.unwrap() {
        assert_eq!(receipt.unwrap().outcome, Outcome::Existing);
    }
    assert_eq!(hours(&db, node).await, Some(3));
    let mut tx = db.pool.begin().await.unwrap();
    let pending = htm.remember_in_tx(&mut tx, keyed(None)).await.unwrap();
    tx.commit().await.unwrap();
    pending.notify();
    assert_eq!(hours(&db, node).await, None);
}

#[tokio::test]
async fn many_writers_of_one_text_do_not_wait_for_one_another() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let node = remember(&htm, "again", Some(Expiry::After(HOUR))).await;
    let writers: Vec<_> = (0..8)
        .map(|n| {
            let htm = htm.clone();
            tokio::spawn(async move {
                for i in 0..10 {
                    let ttl = HOUR * (n * 10 + i + 2);
                    htm.remember(Memory::new("again").expires(Expiry::After(ttl))).await.unwrap();
                }
            })
        })
        .collect();
    // Robots write in a transaction of their own kind.
    let robots: Vec<_> = (0..4)
        .map(|n| {
            let htm = htm.clone();
            tokio::spawn(async move {
                let robot = htm.robot(&format!("robot-{n}")).await.unwrap();
                for i in 0..10 {
                    let ttl = HOUR * (n * 10 + i + 90);
                    robot.remember(Memory::new("again").expires(Expiry::After(ttl))).await.unwrap();
                }
            })
        })
        .collect();
    for writer in writers.into_iter().chain(robots) {
        writer.await.unwrap();
    }
    assert_eq!(hours(&db, node).await, Some(129), "the latest");
    assert_eq!(htm.get(node).await.unwrap().remember_count, 121);
    let deadlocks = "select deadlocks from pg_stat_database where datname = current_database()";
    sqlx::raw_sql("select pg_stat_clear_snapshot()").execute(&db.pool).await.unwrap();
    assert_eq!(db.count(deadlocks).await, 0);
}

#[tokio::test]
async fn repeats_hold_their_nodes_in_the_order_of_all() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let lasting = remember(&htm, "lasting", None).await;
    let expiring = remember(&htm, "expiring", Some(Expiry::After(HOUR))).await;
    let mut forgetting = db.pool.begin().await.unwrap();
    let hold = "select from htm.nodes where id = $1 for update nowait";
    sqlx::query(hold).bind(lasting).execute(&mut *forgetting).await.unwrap();
    let repeats = {
        let htm = htm.clone();
        let texts = ["expiring", "lasting"].map(|text| Memory::new(text).expires(Expiry::After(2 * HOUR)));
        tokio::spawn(async move { htm.remember_many(&texts).await })
    };
    wait_until(|| async { db.count(WAITING).await == 1 }).await;
    // It waits for the first, and does not hold the second meanwhile.
    sqlx::query(hold).bind(expiring).execute(&mut *forgetting).await.unwrap();
    forgetting.rollback().await.unwrap();
    repeats.await.unwrap().unwrap();
    assert_eq!((hours(&db, lasting).await, hours(&db, expiring).await), (None, Some(2)));
}

#[tokio::test]
async fn an_edit_changes_the_expiry() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let node = remember(&htm, "text", None).await;
    let at: DateTime<Utc> = "2100-01-01T00:00:00Z".parse().unwrap();
    let clear = Edit { expires: FieldChange::Clear, ..Edit::new() };
    for (edit, changed, expected) in [
        (clear.clone(), false, (None, None)),
        (Edit::new().expires(Expiry::At(at)), true, (Some(at), None)),
        (Edit::new().expires(Expiry::At(at)), false, (Some(at), None)),
        (clear, true, (None, None)),
    ] {
        let edited = htm.edit(node, &edit).await.unwrap();
        assert_eq!(edited.changed == ["expires"], changed, "{edit:?}: {:?}", edited.changed);
        let found = htm.get(node).await.unwrap();
        assert_eq!((found.expires_at, found.ttl_seconds), expected, "{edit:?}");
    }
    for _ in 0..2 {
        let edited = htm.edit(node, &Edit::new().expires(Expiry::After(HOUR))).await.unwrap();
        assert_eq!((edited.changed, edited.revision), (vec!["expires"], 1));
    }
    assert_eq!(hours(&db, node).await, Some(1));
    let bad = Edit::new().expires(Expiry::After(Duration::ZERO));
    assert_eq!(htm.edit(node, &bad).await.unwrap_err().code(), "expiry_out_of_range");
}

#[tokio::test]
async fn an_expiry_that_has_passed_is_refused_and_an_import_keeps_it() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let expired = |text: &str| Memory::new(text).expires(Expiry::At(Utc::now() - HOUR));
    assert_eq!(htm.remember(expired("one")).await.unwrap_err().code(), "expiry_passed");
    let robot = htm.robot("ada").await.unwrap();
    assert_eq!(robot.remember(expired("of a robot")).await.unwrap_err().code(), "expiry_passed");
    let mut tx = db.pool.begin().await.unwrap();
    assert_eq!(htm.remember_in_tx(&mut tx, expired("in tx")).await.unwrap_err().code(), "expiry_passed");
    tx.rollback().await.unwrap();
    let later = Memory::new("later").expires(Expiry::At(Utc::now() + HOUR));
    let many = htm.remember_many(&[expired("of many"), later]).await.unwrap();
    let codes: Vec<_> = many.iter().map(|result| result.as_ref().err().map(Error::code)).collect();
    assert_eq!(codes, [Some("expiry_passed"), None]);
    let node = many[1].as_ref().unwrap().node;
    let edit = Edit::new().expires(Expiry::At(Utc::now() - HOUR));
    assert_eq!(htm.edit(node, &edit).await.unwrap_err().code(), "expiry_passed");
    assert_eq!(db.count("select count(*) from htm.nodes").await, 1);

    let mut import = htm.importer(10, 1 << 20);
    let line = br#"{"id":"k","ns":"n","text":"what was","expires_at":"2020-01-01T00:00:00Z"}"#;
    import.line(line).await.unwrap();
    let results = import.finish().await.unwrap();
    assert_eq!(results[0].1.as_ref().unwrap().outcome, Outcome::Written);
}

#[tokio::test]
async fn a_policy_forgets_and_purges_its_own_namespace() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let old = remember(&htm, "old", None).await;
    let other = htm.remember(Memory::new("old").namespace("b")).await.unwrap().node;
    pass(&db, 10).await;
    // It happened long ago, and was remembered just now.
    let report = Memory::new("a report").at(Utc::now() - 1_000 * HOUR);
    let imported = htm.remember(report).await.unwrap().node;
    let new = remember(&htm, "new", None).await;
    let hours = |hours: i64| Some(hours * 3_600);
    let policy = Retention { forget_after_seconds: hours(5), purge_after_seconds: hours(24) };
    let refused = htm.set_retention(None, policy, Confirmation::Missing).await.unwrap_err();
    assert_eq!(refused.code(), "not_confirmed");
    assert!(htm.retention(None).await.unwrap().is_none());
    let affected = htm.set_retention(None, policy, Confirmation::Confirmed).await.unwrap();
    assert_eq!((affected.to_forget, affected.to_purge), (1, 0));
    // What is set already needs no confirmation.
    let again = htm.set_retention(None, policy, Confirmation::Missing).await.unwrap();
    assert_eq!((again.to_forget, again.to_purge), (0, 0));
    assert_eq!(htm.retention(None).await.unwrap(), policy);
    let swept = htm.sweep().await.unwrap();
    assert_eq!((swept.namespaces.len(), swept.namespaces[0].aged), (1, 1));
    assert_eq!(htm.get(old).await.unwrap_err().code(), "node_not_found");
    assert_eq!(htm.forgotten(None, None, 1).await.unwrap()[0].reason, ForgetReason::Retention);
    for node in [other, imported, new] {
        htm.get(node).await.unwrap();
    }
    pass(&db, 25).await;
    let swept = htm.sweep().await.unwrap();
    assert_eq!((swept.namespaces[0].aged, swept.namespaces[0].purged.removed.nodes), (2, 1));
    assert_eq!(htm.restore(old, &Caller::AnyRobot).await.unwrap_err().code(), "node_not_found");
    htm.get(other).await.unwrap();
    // The empty policy keeps what is there.
    htm.set_retention(None, Retention::default(), Confirmation::Missing).await.unwrap();
    assert_eq!(db.count("select count(*) from htm.retention").await, 0);
    pass(&db, 1_000).await;
    assert!(htm.sweep().await.unwrap().namespaces.is_empty());
    let tenant = htm.within(["b"]).unwrap();
    assert_eq!(tenant.sweep().await.unwrap_err().code(), "namespace_forbidden");
    assert_eq!(tenant.retention(Some("default")).await.unwrap_err().code(), "namespace_forbidden");
}

#[tokio::test]
async fn a_purge_removes_the_done_jobs_that_a_sweep_has_left() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    remember(&htm, "old", None).await;
    for stage in Stage::ALL {
        drain(&db, stage).await;
    }
    pass(&db, 10).await;
    let stays = remember(&htm, "new", None).await;
    let policy = Retention { forget_after_seconds: Some(5 * 3_600), purge_after_seconds: Some(0) };
    htm.set_retention(None, policy, Confirmation::Confirmed).await.unwrap();
    assert_eq!(htm.sweep().await.unwrap().namespaces[0].aged, 1);
    pass(&db, 1).await;
    assert_eq!(htm.sweep().await.unwrap().namespaces[0].purged.removed.nodes, 1);
    let done = "select count(*) from apalis.jobs where status = 'Done'";
    assert_eq!(db.count(done).await, 2);
    // A plan is about memories: there is none to purge.
    let purge = Purge::before(Utc::now()).caller(Caller::AnyRobot);
    let plan = htm.plan_purge(&purge).await.unwrap().removed;
    assert_eq!((plan.nodes, plan.jobs, db.count(done).await), (0, 0, 2));
    let purged = htm.purge(&purge, Confirmation::Confirmed).await.unwrap().removed;
    assert_eq!((purged.nodes, purged.jobs, db.count(done).await), (0, 2, 0));
    assert_eq!(htm.purge(&purge, Confirmation::Confirmed).await.unwrap().removed.jobs, 0);
    assert_eq!(db.count("select count(*) from apalis.jobs").await, 2, "those of the other memory wait");
    htm.get(stays).await.unwrap();
}

#[tokio::test]
async fn a_policy_leaves_what_was_restored_since() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let node = remember(&htm, "old", None).await;
    pass(&db, 10).await;
    let policy = Retention { forget_after_seconds: Some(5 * 3_600), purge_after_seconds: None };
    htm.set_retention(None, policy, Confirmation::Confirmed).await.unwrap();
    assert_eq!(htm.sweep().await.unwrap().namespaces[0].aged, 1);
    htm.restore(node, &Caller::AnyRobot).await.unwrap();
    assert!(htm.sweep().await.unwrap().namespaces.is_empty());
    let shorter = Retention { forget_after_seconds: Some(4 * 3_600), ..policy };
    let affected = htm.set_retention(None, shorter, Confirmation::Missing).await.unwrap();
    assert_eq!(affected.to_forget, 0);
    let absence = "update htm.node_absences set forgotten_at = forgotten_at - interval '6 hours',
                          restored_at = restored_at - interval '6 hours'";
    sqlx::query(absence).execute(&db.pool).await.unwrap();
    assert_eq!(htm.sweep().await.unwrap().namespaces[0].aged, 1);
}

#[tokio::test]
async fn thousands_are_swept_in_parts() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let memories: Vec<Memory> =
        (0..2_100).map(|n| Memory::new(format!("text {n}")).expires(Expiry::After(HOUR))).collect();
    htm.remember_many(&memories).await.unwrap();
    pass(&db, 2).await;
    let (first, second) = tokio::join!(htm.sweep(), htm.sweep());
    let count = |swept: htm_core::Swept| swept.namespaces.iter().map(|row| row.expired).sum::<u64>();
    assert_eq!(count(first.unwrap()) + count(second.unwrap()), 2_100, "each by one of two sweeps");
    assert_eq!(db.count("select count(*) from htm.nodes where deleted_at is null").await, 0);
}

#[tokio::test]
async fn a_worker_sweeps_and_says_so() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let node = remember(&htm, "soon", Some(Expiry::After(HOUR))).await;
    pass(&db, 2).await;
    let sandbox = Sandbox::new(&db);
    let worker = sandbox.start("embed-worker", &[]);
    wait_until(|| async { htm.get(node).await.is_err() }).await;
    wait_until(|| async { worker.log().contains("swept expired memories") }).await;
}

/// One namespace whose sweep fails, and one with more old memories than a transaction forgets.
#[tokio::test]
async fn a_policy_that_fails_keeps_no_other_from_its_sweep() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let many = (0..1_100).map(|n| Memory::new(format!("text {n}")).namespace("b"));
    let memories: Vec<Memory> = many.chain([Memory::new("text").namespace("a")]).collect();
    htm.remember_many(&memories).await.unwrap();
    pass(&db, 10).await;
    let policy = Retention { forget_after_seconds: Some(3_600), purge_after_seconds: Some(86_400) };
    for namespace in ["a", "b"] {
        htm.set_retention(Some(namespace), policy, Confirmation::Confirmed).await.unwrap();
    }
    sqlx::raw_sql(
        "create function public.refuse() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$;
         create trigger refuse before update on htm.nodes for each row when (old.namespace = 'a')
             execute function public.refuse()",
    )
    .execute(&db.pool)
    .await
    .unwrap();
    let live = "select count(*) from htm.nodes where deleted_at is null";
    let mut swept = Swept::default();
    let failed = expiry::sweep_retention(&db.pool, HOUR, &mut swept).await.unwrap_err();
    assert_eq!(failed.code(), "database_error");
    assert_eq!((swept.namespaces.len(), swept.namespaces[0].aged), (1, 1_100));
    assert_eq!(db.count(live).await, 1);
    // Each is taken once in a period, whichever worker asks; a new policy is due at once.
    let mut swept = Swept::default();
    sqlx::raw_sql("drop trigger refuse on htm.nodes").execute(&db.pool).await.unwrap();
    expiry::sweep_retention(&db.pool, HOUR, &mut swept).await.unwrap();
    assert_eq!(db.count(live).await, 1);
    htm.set_retention(Some("a"), policy, Confirmation::Confirmed).await.unwrap();
    expiry::sweep_retention(&db.pool, HOUR, &mut swept).await.unwrap();
    assert_eq!(db.count(live).await, 0);
}
