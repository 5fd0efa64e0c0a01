//! Forgetting, restoring, purging: what is found by nothing, what comes back, what is gone for good.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use htm_core::provider::ModelName;
use htm_core::worker::jobs::{self, Embedded, Lease};
use htm_core::worker::{embeddings, queues, tags, workers};
use htm_core::{
    Caller, Confirmation, Edit, Htm, Memory, NodeId, Purge, RecallQuery, Removed, Scope, Stage, Strategy,
};
use htm_tests::{TestDatabase, drain, wait_until};

use Confirmation::{Confirmed, Missing};

/// Statements that wait for another transaction.
const WAITING: &str =
    "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";

async fn remember(htm: &Htm, memory: Memory) -> NodeId {
    htm.remember(memory).await.unwrap().node
}

/// Whoever remembered it.
async fn forget(htm: &Htm, node: NodeId) {
    htm.forget(node, &Caller::AnyRobot, Confirmed).await.unwrap();
}

/// Everything that was forgotten by now.
async fn all(db: &TestDatabase) -> Purge {
    let now: chrono::DateTime<chrono::Utc> =
        sqlx::query_scalar("select clock_timestamp()").fetch_one(&db.pool).await.unwrap();
    Purge::before(now).scope(Scope::All).caller(Caller::AnyRobot)
}

#[tokio::test]
async fn the_receipt_says_what_left() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let tagged = Memory::new("lighthouse").tag("a:b".parse().unwrap()).tag("c".parse().unwrap());
    let node = remember(&htm, tagged).await;
    drain(&db, Stage::Embed).await;
    let error = htm.forget(node, &Caller::Handle, Missing).await.unwrap_err();
    assert_eq!(
        (error.code(), error.to_string()),
        ("not_confirmed", format!("forgetting node {node} was not confirmed"))
    );
    let receipt = htm.forget(node, &Caller::Handle, Confirmed).await.unwrap();
    assert_eq!((receipt.forgotten, receipt.left), (vec![node], vec![]));
    assert_eq!(receipt.removed, Removed { nodes: 1, embeddings: 1, tags: 2, jobs: 1 });
}

#[tokio::test]
async fn a_robot_has_a_say_over_its_own() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let node = remember(&htm, Memory::new("of ada").robot("ada")).await;
    for caller in [Caller::Handle, Caller::Robot("bob".into())] {
        let error = htm.forget(node, &caller, Confirmed).await.unwrap_err();
        assert_eq!(error.code(), "not_owner");
        assert!(error.to_string().contains("remembered by robot `ada`"), "{error}");
    }
    let ada = Caller::Robot("ada".into());
    htm.forget(node, &ada, Confirmed).await.unwrap();
    assert_eq!(htm.restore(node, &Caller::Handle).await.unwrap_err().code(), "not_owner");
    htm.restore(node, &ada).await.unwrap();
    htm.forget(node, &Caller::AnyRobot, Confirmed).await.unwrap();
    htm.restore(node, &Caller::AnyRobot).await.unwrap();
}

#[tokio::test]
async fn robots_of_one_name_in_two_namespaces_are_two() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let node = remember(&htm, Memory::new("of alpha").namespace("alpha")).await;
    let refused = [
        htm.edit(node, &Edit::new().content("of beta")).await.unwrap_err(),
        htm.forget(node, &Caller::Handle, Confirmed).await.unwrap_err(),
        htm.forget(node, &Caller::Robot("htm".into()), Confirmed).await.unwrap_err(),
    ];
    for error in refused {
        assert_eq!(error.code(), "not_owner");
        let said = "robot `htm` of namespace `alpha`, not by `htm` of `default`";
        assert!(error.to_string().contains(said), "{error}");
    }
    let plan = htm.plan_forget("of alpha", Some("alpha"), &Caller::Handle).await.unwrap();
    assert_eq!((plan.matches.len(), plan.of_others), (0, 1));
    let alpha = Caller::In { namespace: "alpha".into(), robot: None };
    let plan = htm.plan_forget("of alpha", Some("alpha"), &alpha).await.unwrap();
    assert_eq!((plan.matches.len(), plan.of_others), (1, 0));
    assert_eq!(htm.forget_planned(&plan, &Caller::Handle, Confirmed).await.unwrap_err().code(), "not_owner");
    let ada = Caller::In { namespace: "alpha".into(), robot: Some("ada".into()) };
    assert_eq!(htm.forget(node, &ada, Confirmed).await.unwrap_err().code(), "not_owner");
    htm.forget(node, &alpha, Confirmed).await.unwrap();
    assert_eq!(htm.restore(node, &Caller::Handle).await.unwrap_err().code(), "not_owner");
    htm.restore(node, &alpha).await.unwrap();
    htm.edit(node, &Edit::new().content("of alpha, again").caller(alpha)).await.unwrap();
}

#[tokio::test]
async fn of_many_who_forget_restore_and_edit_at_once_each_is_told_what_it_met() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let node = remember(&htm, Memory::new("in everybody's hands").tag("a:b".parse().unwrap())).await;
    let tasks = (0..24).map(|n| {
        let htm = htm.clone();
        tokio::spawn(async move {
            match n % 3 {
                0 => htm.forget(node, &Caller::Handle, Confirmed).await.map(drop),
                1 => htm.restore(node, &Caller::Handle).await.map(drop),
                _ => htm.edit(node, &Edit::new().content(format!("edited by {n}"))).await.map(drop),
            }
        })
    });
    for result in futures::future::join_all(tasks).await {
        if let Err(error) = result.unwrap() {
            assert!(["node_not_found", "not_forgotten"].contains(&error.code()), "{error}");
        }
    }
    // Whatever came last, it can be brought back and nothing is missing.
    let _ = htm.restore(node, &Caller::Handle).await;
    for stage in Stage::ALL {
        drain(&db, stage).await;
    }
    let status = htm.status(node).await.unwrap();
    assert!(
        status.stages.iter().all(|stage| stage.state.name() == "done" && stage.stale.is_none()),
        "{status:?}"
    );
    assert_eq!(queues::count_stranded(&db.pool).await.unwrap(), 0);
}

/// Claims the embed jobs as a worker would; the model has four dimensions.
async fn claim(db: &TestDatabase) -> (embeddings::RegisteredModel, Lease, Vec<jobs::Claimed>) {
    let model = embeddings::register_model(&db.pool, &ModelName::new("fake", "held"), 4).await.unwrap();
    workers::register(&db.pool, model.queue.as_deref().unwrap(), "holder", "test", 30_000).await.unwrap();
    let (lease, claimed) = jobs::claim(&db.pool, model.queue.as_deref().unwrap(), "fake/held", "holder", 100)
        .await
        .unwrap()
        .expect("a job is due");
    (model, lease, claimed)
}

fn embedded(job: &jobs::Claimed, node: NodeId) -> Embedded {
    Embedded { job: job.id.clone(), node, revision: 1, embedding: vec![0.5; 4], parts: 1 }
}

#[tokio::test]
async fn from_the_commit_on_nothing_finds_it() {
    let db = TestDatabase::new().await;
    let mut htm = db.htm();
    // Through the HNSW index, whose entries stay.
    let mut settings = htm.settings().clone();
    settings.recall.exact_scope = 0;
    let embedder = htm_providers::fake::embedder(Default::default()).unwrap();
    htm = Htm::with_pool(db.pool.clone(), settings, Some(embedder));
    let secret = Memory::new("the secret of the lighthouse").key("k").tag("only:here".parse().unwrap());
    let node = remember(&htm, secret).await;
    for n in 0..20 {
        remember(&htm, Memory::new(format!("the lighthouse, part {n}"))).await;
    }
    drain(&db, Stage::Embed).await;
    let exact = db.htm();

    // Recalls all the while; those that begin after the commit are marked.
    let gone = Arc::new(AtomicBool::new(false));
    let stop = Arc::new(AtomicBool::new(false));
    let readers: Vec<_> = Strategy::ALL
        .into_iter()
        .flat_map(|strategy| [(strategy, htm.clone()), (strategy, exact.clone())])
        .map(|(strategy, htm)| {
            let (gone, stop) = (gone.clone(), stop.clone());
            tokio::spawn(async move {
                let query = RecallQuery::new("secret of the lighthouse").strategy(strategy).limit(50);
                let mut after = 0;
                while !stop.load(Ordering::SeqCst) || after == 0 {
                    let was_gone = gone.load(Ordering::SeqCst);
                    let hits = htm.recall(&query).await.unwrap().hits;
                    let found = hits.iter().any(|hit| hit.node.id == node);
                    assert!(!(was_gone && found), "{strategy}");
                    after += u32::from(was_gone);
                }
            })
        })
        .collect();
    forget(&htm, node).await;
    gone.store(true, Ordering::SeqCst);
    for _ in 0..5 {
        htm.recall(&RecallQuery::new("lighthouse")).await.unwrap();
    }
    stop.store(true, Ordering::SeqCst);
    for reader in readers {
        reader.await.unwrap();
    }
    assert_eq!(htm.get_by_key(None, "k").await.unwrap(), None);
    for error in [htm.get(node).await.unwrap_err(), htm.status(node).await.unwrap_err()] {
        assert_eq!(error.code(), "node_not_found");
    }
    assert!(tags::in_use(&db.pool, "default", 10).await.unwrap().is_empty(), "no tagger is shown its tags");
    assert_eq!(db.count("select count(*) from htm.embeddings_1").await, 21, "kept for a restore");
}

#[tokio::test]
async fn a_result_that_is_on_its_way_is_thrown_away() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let node = remember(&htm, Memory::new("too late")).await;
    let (model, lease, claimed) = claim(&db).await;
    let receipt = htm.forget(node, &Caller::Handle, Confirmed).await.unwrap();
    assert_eq!(receipt.removed.jobs, 1, "the one that waits; the other one is running");
    assert_eq!(
        jobs::ack_embedded(&db.pool, &lease, &model, &[embedded(&claimed[0], node)]).await.unwrap(),
        1
    );
    let left = "select (select count(*) from htm.embeddings_1) + (select count(*) from htm.completions)";
    assert_eq!(db.count(left).await, 0);
    assert_eq!(db.count("select count(*) from apalis.jobs where status <> 'Done'").await, 0);
    assert_eq!(queues::count_stranded(&db.pool).await.unwrap(), 0);
}

#[tokio::test]
async fn what_is_restored_is_as_it_was() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let node =
        remember(&htm, Memory::new("postgres postgres index").key("k").tag("by:hand".parse().unwrap())).await;
    for stage in Stage::ALL {
        drain(&db, stage).await;
    }
    let before = htm.get(node).await.unwrap();
    forget(&htm, node).await;
    assert_eq!(htm.restore(node, &Caller::Handle).await.unwrap().jobs, 0, "it lacks nothing");
    assert_eq!(htm.get(node).await.unwrap(), before);
    let status = htm.status(node).await.unwrap();
    assert!(status.stages.iter().all(|stage| stage.state.name() == "done"), "{status:?}");
    for strategy in Strategy::ALL {
        let query = RecallQuery::new("postgres index").strategy(strategy);
        assert_eq!(htm.recall(&query).await.unwrap().hits.len(), 1, "{strategy}");
    }
    assert_eq!(htm.restore(node, &Caller::Handle).await.unwrap_err().code(), "not_forgotten");
    assert_eq!(htm.restore(NodeId(999), &Caller::Handle).await.unwrap_err().code(), "node_not_found");
    // Its key was free, and somebody took it.
    forget(&htm, node).await;
    let taker = remember(&htm, Memory::new("another").key("k")).await;
    let error = htm.restore(node, &Caller::Handle).await.unwrap_err();
    assert_eq!(error.code(), "key_taken");
    assert!(error.to_string().contains(&format!("by node {taker}")), "{error}");
    assert_eq!(htm.get(node).await.unwrap_err().code(), "node_not_found");
    // Which is mended by giving the taker another one.
    htm.edit(taker, &Edit::new().key("other")).await.unwrap();
    htm.restore(node, &Caller::Handle).await.unwrap();
}

#[tokio::test]
async fn what_a_restored_node_lacks_is_enqueued_again() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let node = remember(&htm, Memory::new("interrupted")).await;
    drain(&db, Stage::Embed).await;
    forget(&htm, node).await;
    assert_eq!(db.count("select count(*) from apalis.jobs where status <> 'Done'").await, 0);
    assert_eq!(htm.restore(node, &Caller::Handle).await.unwrap().jobs, 1, "for its tags");
    assert_eq!(drain(&db, Stage::Tag).await.done, 1);
    assert_eq!(queues::count_stranded(&db.pool).await.unwrap(), 0);
}

#[tokio::test]
async fn a_job_that_runs_while_its_node_is_forgotten_and_restored_leaves_no_gap() {
    for ack_before_restore in [true, false] {
        let db = TestDatabase::new().await;
        let htm = db.htm();
        let node = remember(&htm, Memory::new("back and forth")).await;
        let (model, lease, claimed) = claim(&db).await;
        let ack = || async {
            let results = [embedded(&claimed[0], node)];
            assert_eq!(jobs::ack_embedded(&db.pool, &lease, &model, &results).await.unwrap(), 1);
        };
        forget(&htm, node).await;
        if ack_before_restore {
            ack().await;
        }
        // One for the tags; one for the embedding, unless the running one will find the node alive.
        let expected = if ack_before_restore { 2 } else { 1 };
        assert_eq!(htm.restore(node, &Caller::Handle).await.unwrap().jobs, expected);
        if ack_before_restore {
            let (lease, claimed) =
                jobs::claim(&db.pool, model.queue.as_deref().unwrap(), "fake/held", "holder", 100)
                    .await
                    .unwrap()
                    .expect("the other one");
            let results = [embedded(&claimed[0], node)];
            assert_eq!(jobs::ack_embedded(&db.pool, &lease, &model, &results).await.unwrap(), 1);
        } else {
            ack().await;
        }
        assert_eq!(db.count("select count(*) from htm.embeddings_1").await, 1);
        assert_eq!(queues::count_stranded(&db.pool).await.unwrap(), 0);
    }
}

#[tokio::test]
async fn one_of_two_who_restore_and_remember_wins() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    for round in 0..10 {
        let text = format!("contested {round}");
        let node = remember(&htm, Memory::new(&text)).await;
        forget(&htm, node).await;
        let (restored, written) =
            tokio::join!(htm.restore(node, &Caller::Handle), htm.remember(Memory::new(&text)));
        let written = written.unwrap().node;
        match restored {
            Ok(_) => assert_eq!(written, node, "it was counted as remembered again"),
            Err(error) => assert_eq!(error.code(), "content_taken"),
        }
        let live =
            sqlx::query_scalar("select count(*) from htm.nodes where content = $1 and deleted_at is null");
        let live: i64 = live.bind(&text).fetch_one(&db.pool).await.unwrap();
        assert_eq!(live, 1);
    }
}

#[tokio::test]
async fn a_plan_shows_what_would_be_forgotten_and_that_is_forgotten() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let mut found = Vec::new();
    for text in ["Password: 100%_sure\\ of it", "the PASSWORD: 100%_sure\\ is old", "password: 100%_sure\\"] {
        found.push(remember(&htm, Memory::new(text)).await);
    }
    let theirs = remember(&htm, Memory::new("ada's password: 100%_sure\\").robot("ada")).await;
    remember(&htm, Memory::new("password: 100 is sure, 1000_sure\\")).await;
    remember(&htm, Memory::new("password: 100%_sure\\").namespace("elsewhere")).await;
    let text = "password: 100%_sure\\";
    let plan = htm.plan_forget(text, None, &Caller::Handle).await.unwrap();
    let shown: Vec<NodeId> = plan.matches.iter().map(|found| found.node).collect();
    assert_eq!((shown, plan.more, plan.of_others), (found.clone(), false, 1));
    assert_eq!(plan.matches[1].excerpt, "the PASSWORD: 100%_sure\\ is old");
    assert_eq!(htm.plan_forget(text, None, &Caller::Handle).await.unwrap().digest(), plan.digest());
    let any = htm.plan_forget(text, None, &Caller::AnyRobot).await.unwrap();
    assert_eq!((any.matches.len(), any.of_others), (4, 0));
    assert_ne!(any.digest(), plan.digest());

    let error = htm.forget_planned(&plan, &Caller::Handle, Missing).await.unwrap_err();
    assert_eq!(
        (error.code(), error.to_string()),
        ("not_confirmed", "forgetting the nodes of the plan (3) was not confirmed".into())
    );
    assert_eq!(htm.forget_planned(&any, &Caller::Handle, Confirmed).await.unwrap_err().code(), "not_owner");
    assert_eq!(htm.get(found[0]).await.unwrap().id, found[0], "all or nothing");

    // What is not as it was shown is left, and what has come since is not in it.
    htm.edit(found[1], &Edit::new().content("harmless by now")).await.unwrap();
    forget(&htm, found[2]).await;
    let since = remember(&htm, Memory::new("a new password: 100%_sure\\")).await;
    let receipt = htm.forget_planned(&plan, &Caller::Handle, Confirmed).await.unwrap();
    assert_eq!((receipt.forgotten, receipt.left), (vec![found[0]], vec![found[1], found[2]]));
    assert_eq!((receipt.removed.nodes, receipt.removed.jobs), (1, 2));
    for node in [found[1], since, theirs] {
        htm.get(node).await.unwrap();
    }
    for (text, code) in [(" ", "content_empty"), ("a\0", "nul_byte")] {
        assert_eq!(htm.plan_forget(text, None, &Caller::Handle).await.unwrap_err().code(), code);
    }
    let nothing = htm.plan_forget("no such thing", None, &Caller::Handle).await.unwrap();
    let receipt = htm.forget_planned(&nothing, &Caller::Handle, Confirmed).await.unwrap();
    assert_eq!((receipt.forgotten.len(), receipt.removed), (0, Removed::default()));
}

#[tokio::test]
async fn a_plan_of_two_namespaces_ends_the_jobs_of_both() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    remember(&htm, Memory::new("the password")).await;
    remember(&htm, Memory::new("another password").namespace("atlas")).await;
    let mut plan = htm.plan_forget("password", None, &Caller::AnyRobot).await.unwrap();
    plan.matches.extend(htm.plan_forget("password", Some("atlas"), &Caller::AnyRobot).await.unwrap().matches);
    let receipt = htm.forget_planned(&plan, &Caller::AnyRobot, Confirmed).await.unwrap();
    assert_eq!((receipt.removed.nodes, receipt.removed.jobs), (2, 4));
    assert_eq!(db.count("select count(*) from apalis.jobs").await, 0);
}

#[tokio::test]
async fn what_is_forgotten_is_listed_the_last_first() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let first = remember(&htm, Memory::new("first ".repeat(50)).key("k")).await;
    let second = remember(&htm, Memory::new("second").namespace("atlas")).await;
    remember(&htm, Memory::new("stays")).await;
    for node in [first, second] {
        forget(&htm, node).await;
    }
    let listed = htm.forgotten(None, None, 10).await.unwrap();
    assert_eq!(listed.iter().map(|node| node.node).collect::<Vec<_>>(), [second, first]);
    assert_eq!((listed[1].key.as_deref(), listed[1].excerpt.len()), (Some("k"), 100));
    assert_eq!(htm.forgotten(Some("atlas"), None, 10).await.unwrap().len(), 1);
    assert_eq!(htm.forgotten(None, None, 1).await.unwrap().len(), 1);
    assert_eq!(htm.forgotten(None, None, 0).await.unwrap_err().code(), "limit_out_of_range");
}

/// Rows that refer to nodes, in every table that does.
const TRACES: &str = "select (select count(*) from htm.nodes) + (select count(*) from htm.node_tags)
    + (select count(*) from htm.embeddings_1) + (select count(*) from htm.embeddings_2)
    + (select count(*) from htm.completions) + (select count(*) from htm.repeats)
    + (select count(*) from htm.node_revisions)
    + (select count(*) from htm.working_memory) + (select count(*) from apalis.jobs)";

#[tokio::test]
async fn a_purge_leaves_nothing_of_what_was_forgotten_before() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let stays = remember(&htm, Memory::new("stays")).await;
    for stage in Stage::ALL {
        drain(&db, stage).await;
    }
    // A second model, whose embeddings go as well.
    let other = embeddings::register_model(&db.pool, &ModelName::new("fake", "held"), 4).await.unwrap();
    let kept = db.count(TRACES).await;

    let node = remember(&htm, Memory::new("postgres postgres index").tag("by:hand".parse().unwrap())).await;
    remember(&htm, Memory::new("postgres postgres index").robot("ada")).await;
    htm.edit(node, &Edit::new().content("postgres index")).await.unwrap();
    for stage in Stage::ALL {
        drain(&db, stage).await;
    }
    sqlx::query(
        "with stored as (insert into htm.embeddings_2 select id, namespace, created_at, 1, '[1,0,0,0]' from htm.nodes where id = $1)
         insert into htm.working_memory (robot_id, namespace, node_id) select robot_id, namespace, id from htm.nodes where id = $1",
    )
    .bind(node)
    .execute(&db.pool)
    .await
    .unwrap();
    let elsewhere = remember(&htm, Memory::new("elsewhere").namespace("atlas")).await;
    let before = all(&db).await;
    let receipt = htm.forget(node, &Caller::AnyRobot, Confirmed).await.unwrap();
    assert_eq!((receipt.removed.embeddings, receipt.removed.jobs), (2, 1), "the job of {}", other.label);
    forget(&htm, elsewhere).await;
    let later = remember(&htm, Memory::new("forgotten later")).await;

    // Nothing was forgotten before that.
    assert_eq!(htm.plan_purge(&before).await.unwrap().removed, Removed::default());
    let here = all(&db).await.scope(Scope::Own);
    forget(&htm, later).await;
    let error = htm.purge(&here, Missing).await.unwrap_err();
    assert_eq!(error.code(), "not_confirmed");
    let (rows, plan) = (db.count(TRACES).await, htm.plan_purge(&here).await.unwrap());
    assert_eq!(db.count(TRACES).await, rows, "a plan removes nothing");
    let purged = htm.purge(&here, Confirmed).await.unwrap();
    assert_eq!(purged, plan);
    assert_eq!((purged.removed.nodes, purged.removed.embeddings, purged.removed.jobs), (1, 2, 5));
    assert!(purged.removed.tags > 1, "{purged:?}");
    assert_eq!((purged.completions, purged.repeats, purged.revisions, purged.working_memory), (2, 1, 1, 1));
    assert_eq!(htm.restore(node, &Caller::Handle).await.unwrap_err().code(), "node_not_found");
    let forgotten: Vec<NodeId> =
        htm.forgotten(None, None, 10).await.unwrap().iter().map(|it| it.node).collect();
    assert_eq!(forgotten, [later, elsewhere]);

    let purged = htm.purge(&all(&db).await, Confirmed).await.unwrap();
    assert_eq!(purged.removed.nodes, 2);
    assert_eq!(db.count(TRACES).await, kept);
    htm.get(stays).await.unwrap();
    assert_eq!(htm.purge(&all(&db).await, Confirmed).await.unwrap().removed, Removed::default());
    assert_eq!(queues::count_stranded(&db.pool).await.unwrap(), 0);
    for (code, purge) in [
        ("namespace_invalid", here.clone().scope(Scope::Namespace(String::new()))),
        ("time_in_future", Purge { before: here.before + chrono::TimeDelta::hours(1), ..here.clone() }),
        ("time_out_of_range", Purge { before: chrono::DateTime::<chrono::Utc>::MIN_UTC, ..here }),
    ] {
        assert_eq!(htm.purge(&purge, Confirmed).await.unwrap_err().code(), code);
        assert_eq!(htm.plan_purge(&purge).await.unwrap_err().code(), code);
    }
}

#[tokio::test]
async fn a_purge_leaves_what_others_remembered() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    for (namespace, robot) in [("default", "htm"), ("default", "ada"), ("atlas", "htm"), ("atlas", "ada")] {
        let memory = Memory::new(format!("{namespace} {robot}")).namespace(namespace).robot(robot);
        forget(&htm, remember(&htm, memory).await).await;
    }
    let any = all(&db).await;
    let own = Purge::before(any.before);
    let atlas = Scope::Namespace("atlas".into());
    let there = Caller::In { namespace: "atlas".into(), robot: None };
    let left = "select count(*) from htm.nodes";
    for (purge, nodes, remain) in [
        (own.clone().scope(atlas.clone()), 0, 4),
        (own.clone(), 1, 3),
        (own.clone().scope(Scope::All), 0, 3),
        (own.clone().scope(Scope::All).caller(Caller::Robot("ada".into())), 1, 2),
        (own.clone().scope(atlas.clone()).caller(there), 1, 1),
        (own.clone().caller(Caller::AnyRobot), 0, 1),
        (own.scope(atlas).caller(Caller::AnyRobot), 1, 0),
    ] {
        assert_eq!(htm.plan_purge(&purge).await.unwrap().removed.nodes, nodes, "{purge:?}");
        assert_eq!(htm.purge(&purge, Confirmed).await.unwrap().removed.nodes, nodes, "{purge:?}");
        assert_eq!(db.count(left).await, remain, "{purge:?}");
    }
}

#[tokio::test]
async fn a_purge_of_thousands_goes_step_by_step_around_what_is_being_restored() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let memories: Vec<Memory> = (0..2_500).map(|n| Memory::new(format!("of many, {n}"))).collect();
    htm.remember_many(&memories).await.unwrap();
    drain(&db, Stage::Embed).await;
    sqlx::query("update htm.nodes set deleted_at = now() - interval '1 day'")
        .execute(&db.pool)
        .await
        .unwrap();
    // One is being restored, in a transaction that is open.
    let mut tx = db.pool.begin().await.unwrap();
    let restored: NodeId = sqlx::query_scalar(
        "update htm.nodes set deleted_at = null where content = 'of many, 7' returning id",
    )
    .fetch_one(&mut *tx)
    .await
    .unwrap();
    let purge = all(&db).await;
    let (one, other) = tokio::join!(htm.purge(&purge, Confirmed), htm.purge(&purge, Confirmed));
    let (one, other) = (one.unwrap(), other.unwrap());
    assert_eq!(one.removed.nodes + other.removed.nodes, 2_499, "two at once share the work");
    tx.commit().await.unwrap();
    assert_eq!(htm.get(restored).await.unwrap().content, "of many, 7");
    assert_eq!(db.count("select count(*) from htm.embeddings_1").await, 1);
    assert_eq!(db.count("select count(*) from apalis.jobs").await, 2);
}

#[tokio::test]
async fn what_another_robot_said_too_is_not_forgotten_by_one_alone() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let said_by = |robot: &str| Memory::new("the port is 5433").robot(robot);
    let node = remember(&htm, said_by("kim")).await;
    // Said again by oneself, it is still one's own.
    assert_eq!(remember(&htm, said_by("kim")).await, node);
    let kim = Caller::Robot("kim".into());
    assert_eq!(htm.plan_forget("5433", None, &kim).await.unwrap().matches.len(), 1);
    assert_eq!(remember(&htm, said_by("ada")).await, node);
    let error = htm.forget(node, &kim, Confirmed).await.unwrap_err();
    assert_eq!((error.code(), error.to_string().contains("`ada`")), ("remembered_by_others", true));
    assert_eq!(htm.plan_forget_node(node, &kim).await.unwrap_err().code(), "remembered_by_others");
    let plan = htm.plan_forget("5433", None, &kim).await.unwrap();
    assert_eq!((plan.matches.len(), plan.of_others), (0, 1));
    let theirs = htm.plan_forget("5433", None, &Caller::AnyRobot).await.unwrap();
    let error = htm.forget_planned(&theirs, &kim, Confirmed).await.unwrap_err();
    assert_eq!(error.code(), "remembered_by_others");
    assert_eq!(htm.get(node).await.unwrap().remember_count, 3);
    htm.forget_planned(&theirs, &Caller::AnyRobot, Confirmed).await.unwrap();
    assert_eq!(htm.get(node).await.unwrap_err().code(), "node_not_found");
}

#[tokio::test]
async fn a_text_that_another_robot_repeats_at_this_moment_is_kept() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let node = remember(&htm, Memory::new("shared").robot("ada")).await;
    let mut tx = db.pool.begin().await.unwrap();
    let repeated = htm.remember_in_tx(&mut tx, Memory::new("shared").robot("bob")).await.unwrap();
    let forgetting = tokio::spawn({
        let htm = htm.clone();
        async move { htm.forget(node, &Caller::Robot("ada".into()), Confirmed).await }
    });
    wait_until(|| async { db.count(WAITING).await > 0 }).await;
    tx.commit().await.unwrap();
    assert_eq!(repeated.notify().node, node);
    assert_eq!(forgetting.await.unwrap().unwrap_err().code(), "remembered_by_others");
    htm.get(node).await.unwrap();
}

#[tokio::test]
async fn a_restore_and_a_prune_at_the_same_time_leave_no_node_without_a_reason() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let node = remember(&htm, Memory::new("x")).await;
    let dead = "update apalis.jobs set status = 'Killed', attempts = 1, done_at = now() - interval '1 day' where job_type = 'htm.tag'";
    sqlx::query(dead).execute(&db.pool).await.unwrap();
    // A running job may leave a dead letter after its node was forgotten.
    sqlx::query("update htm.nodes set deleted_at = now()").execute(&db.pool).await.unwrap();
    let mut restore = db.pool.begin().await.unwrap();
    sqlx::query("update htm.nodes set deleted_at = null").execute(&mut *restore).await.unwrap();
    let prune = || queues::prune_dead(&db.pool, "htm.tag", Duration::ZERO);
    assert_eq!(prune().await.unwrap(), 0);
    restore.commit().await.unwrap();
    assert_eq!(prune().await.unwrap(), 0, "it says why node {node} has no tags");
    sqlx::query("update htm.nodes set deleted_at = now()").execute(&db.pool).await.unwrap();
    assert_eq!(prune().await.unwrap(), 1);
}
