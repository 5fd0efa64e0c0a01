//! Those who meet at the same tags.

use std::sync::Arc;

use htm_core::Confirmation;

use super::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn workers_that_tag_while_tags_are_merged_lose_nothing() {
    let db = Arc::new(TestDatabase::new().await);
    let htm = db.htm();
    const NODES: usize = 600;
    for tag in ["a:x", "b:x", "c"] {
        add(&htm, tag, "").await;
    }
    let nodes = remember(&htm, NODES, "text", &[]).await;
    let claim = |worker: &'static str| {
        let pool = db.pool.clone();
        async move {
            workers::register(&pool, Stage::Tag.queue(), worker, "test", 30_000).await.unwrap();
            jobs::claim(&pool, Stage::Tag.queue(), "fake/tags", worker, NODES / 4).await.unwrap()
        }
    };
    let mut tasks = tokio::task::JoinSet::new();
    for worker in ["w0", "w1", "w2", "w3"] {
        let (lease, claimed) = claim(worker).await.unwrap();
        let db = db.clone();
        tasks.spawn(async move {
            for chunk in claimed.chunks(5) {
                let results: Vec<Tagged> = chunk
                    .iter()
                    .map(|job| {
                        let payload = htm_core::job::Payload::decode(&job.payload).unwrap();
                        let tag =
                            |path: &str| TagSuggestion { path: path.parse().unwrap(), confidence: None };
                        // Some find nothing: what they had is taken from them all the same.
                        let tags = match payload.node.0 % 5 {
                            0 => vec![],
                            _ => vec![tag("a:x"), tag("b:x:new"), tag("c")],
                        };
                        let (node, revision) = (payload.node, payload.revision);
                        Tagged { job: job.id.clone(), node, namespace: "default".into(), revision, tags }
                    })
                    .collect();
                assert_eq!(Says::llm("1").ack(&db, &lease, &results).await, chunk.len());
            }
        });
    }
    // Who edits and who purges is there as well.
    let (editor, edited) = (htm.clone(), nodes.clone());
    tasks.spawn(async move {
        for node in edited.iter().step_by(7) {
            let edit = htm_core::Edit::new().tag("a:x".parse().unwrap()).untag("c".parse().unwrap());
            editor.edit(*node, &edit).await.unwrap();
        }
    });
    let changer = htm.clone();
    tasks.spawn(async move {
        let ontology = changer.ontology(None).unwrap();
        for _ in 0..6 {
            let merged = merge(&changer, &["a", "c"], "b").await;
            ontology.revert(merged.change.unwrap()).await.unwrap();
        }
        merge(&changer, &["a", "c"], "b").await;
    });
    while let Some(ended) = tasks.join_next().await {
        ended.unwrap();
    }
    assert_eq!(names(&db).await, ["a=b", "b", "b:x", "b:x:new", "c=b"]);
    let edited: BTreeSet<NodeId> = nodes.iter().copied().step_by(7).collect();
    for node in nodes {
        let tags = tags_of(&db, node).await;
        let all = ["b llm", "b:x llm", "b:x:new llm"];
        let expected: Vec<&str> = match (node.0 % 5, edited.contains(&node)) {
            (0, false) => vec![],
            (0, true) => vec!["b:x manual"],
            (_, false) => all.to_vec(),
            // Whoever came last, the editor's own is there.
            (_, true) => {
                assert!(tags.contains(&"b:x manual".into()), "{tags:?}");
                continue;
            }
        };
        assert_eq!(tags, expected, "node {node}");
    }
    assert_eq!(htm_core::worker::queues::count_stranded(&db.pool).await.unwrap(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_merge_and_a_purge_of_its_nodes_wait_for_one_another() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    for round in 0..5 {
        let nodes = remember(&htm, 300, &format!("round {round}"), &["from", "into"]).await;
        for node in nodes.iter().step_by(2) {
            let caller = htm_core::Caller::AnyRobot;
            htm.forget(*node, &caller, Confirmation::Confirmed).await.unwrap();
        }
        let purge = htm_core::Purge::before(chrono::Utc::now()).caller(htm_core::Caller::AnyRobot);
        let (merged, purged) =
            tokio::join!(merge(&htm, &["from"], "into"), htm.purge(&purge, Confirmation::Confirmed));
        // A node that the merge has at this moment is left for the next purge.
        let rest = htm.purge(&purge, Confirmation::Confirmed).await.unwrap();
        assert_eq!(purged.unwrap().removed.nodes + rest.removed.nodes, 150);
        htm.ontology(None).unwrap().revert(merged.change.unwrap()).await.unwrap();
    }
    assert_eq!(db.count("select count(*) from htm.node_tags").await, 5 * 150 * 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_that_bring_the_same_new_tags_create_each_once() {
    let db = Arc::new(TestDatabase::new().await);
    let htm = db.htm();
    remember(&htm, 400, "text", &[]).await;
    let mut tasks = tokio::task::JoinSet::new();
    for worker in ["one", "two"] {
        let (db, htm) = (db.clone(), htm.clone());
        tasks.spawn(async move {
            let tags = |node: NodeId| {
                (0..3).map(|n| (format!("new:t{}:leaf{n}", node.0 % 20), 0.5)).collect::<Vec<_>>()
            };
            workers::register(&db.pool, Stage::Tag.queue(), worker, "test", 30_000).await.unwrap();
            for round in 0..10 {
                Says::llm("1").of(&db, worker, tags).await;
                let tag = format!("new:manual{round}");
                remember(&htm, 20, &format!("{worker} {round}"), &[&tag]).await;
            }
        });
    }
    while let Some(ended) = tasks.join_next().await {
        ended.unwrap();
    }
    // `new`, 20 of its children with 3 each, and 10 by hand.
    assert_eq!(db.count("select count(*) from htm.tags").await, 1 + 20 + 60 + 10);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn who_tags_by_names_that_a_merge_is_not_about_does_not_wait_for_it() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let nodes = remember(&htm, 3, "text", &["from:below", "into"]).await;
    // Somebody holds a node, so that the merge stands half-way.
    let mut holder = db.pool.begin().await.unwrap();
    sqlx::query("select from htm.nodes where id = $1 for update")
        .bind(nodes[0])
        .execute(&mut *holder)
        .await
        .unwrap();
    let merging = {
        let htm = htm.clone();
        tokio::spawn(async move { merge(&htm, &["from:below"], "into").await })
    };
    htm_tests::wait_until(|| async {
        db.count("select count(*) from pg_stat_activity where wait_event_type = 'Lock' and query like '%key share of n%' and datname = current_database()").await > 0
    })
    .await;
    let other = tokio::time::timeout(
        std::time::Duration::from_secs(4),
        remember(&htm, 2, "other", &["food:kimchi", "into:deeper"]),
    );
    let other = other.await.expect("what the merge is not about waits for nobody");
    // What it is about has to wait, not for ever.
    let memory = || Memory::new("again").tag("from:below:new".parse().unwrap());
    let waited = htm.remember(memory()).await.unwrap_err();
    assert_eq!((waited.code(), waited.fault().exit_code()), ("contended", 75), "{waited}");
    assert!(waited.to_string().contains("default") && waited.hint().contains("again"), "{}", waited.hint());
    assert_eq!(db.count("select count(*) from htm.nodes where content = 'again'").await, 0);
    holder.rollback().await.unwrap();
    assert_eq!(merging.await.unwrap().nodes, 3);
    let later = htm.remember(memory()).await.unwrap().node;
    assert_eq!(tags_of(&db, later).await, ["into:new manual"]);
    assert_eq!(tags_of(&db, other[0]).await, ["food:kimchi manual", "into:deeper manual"]);
}
