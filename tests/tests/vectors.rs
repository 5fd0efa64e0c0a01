//! Vectors that callers bring.

use htm_core::models::ModelState;
use htm_core::provider::{CALLER, ModelName};
use htm_core::worker::embeddings;
use htm_core::{
    BackfillRequest, Caller, Confirmation, Edit, Htm, MatchedBy, Memory, NodeId, Outcome, RecallQuery,
    Settings, Stage, StageState, Strategy, TimeFilter,
};
use htm_tests::{TestDatabase, drain};

const MINE: &str = "caller/mine";

/// Adds the caller's model, with four dimensions.
async fn add(htm: &Htm) -> ModelState {
    htm.models().unwrap().add(&ModelName::new(CALLER, "mine"), 4).await.unwrap().state
}

/// Recalls by a vector alone.
async fn nearest(htm: &Htm, vector: [f32; 4]) -> Vec<(NodeId, bool)> {
    let query = RecallQuery::new("").strategy(Strategy::Vector).model(MINE).vector(vector.to_vec());
    let recalled = htm.recall(&query).await.unwrap();
    assert_eq!((recalled.models, recalled.degraded.len()), (vec![MINE.to_owned()], 0));
    recalled.hits.iter().map(|hit| (hit.node.id, hit.scores.stale)).collect()
}

async fn embed_jobs(db: &TestDatabase) -> i64 {
    db.count("select count(*) from apalis.jobs where job_type like 'htm.embed%'").await
}

async fn stage(htm: &Htm, node: NodeId) -> StageState {
    htm.status(node).await.unwrap().stage(Stage::Embed).clone()
}

fn code<T: std::fmt::Debug>(result: htm_core::Result<T>) -> &'static str {
    result.unwrap_err().code()
}

#[tokio::test]
async fn a_callers_model_alone_needs_no_worker() {
    let db = TestDatabase::new().await;
    // A program that has no embedder at all.
    let htm = Htm::with_pool(db.pool.clone(), Settings::default(), None);
    assert_eq!(add(&htm).await, ModelState::Active);
    let tabs = Memory::new("Mara prefers tabs.").vector(MINE, vec![1.0, 0.0, 0.0, 0.0]);
    let tabs = htm.remember(tabs).await.unwrap().node;
    let many = [
        Memory::new("Staging is on port 5433.").vector(MINE, vec![0.0, 1.0, 0.0, 0.0]),
        Memory::new("Nobody embedded this."),
    ];
    let many: Vec<NodeId> =
        htm.remember_many(&many).await.unwrap().into_iter().map(|it| it.unwrap().node).collect();
    assert_eq!(embed_jobs(&db).await, 0);
    assert_eq!(nearest(&htm, [0.9, 0.1, 0.0, 0.0]).await, [(tabs, false), (many[0], false)]);

    // What a caller has not brought is not stranded, and recall counts it.
    drain(&db, Stage::Tag).await;
    assert_eq!(db.count("select count(*) from htm.stranded").await, 0);
    assert!(htm.jobs().unwrap().audit().await.unwrap().is_clean());
    assert!(matches!(stage(&htm, many[1]).await, StageState::Awaited));
    assert!(matches!(stage(&htm, tabs).await, StageState::Done { worker, .. } if worker == CALLER));
    let query = RecallQuery::new("who prefers what?").vector(vec![1.0, 0.0, 0.0, 0.0]);
    let recalled = htm.recall(&query).await.unwrap();
    assert_eq!((recalled.unembedded, recalled.hits[0].node.id), (1, tabs));
    let overview = {
        let models = htm.models().unwrap();
        models.overview(&models.get(MINE).await.unwrap()).await.unwrap()
    };
    assert_eq!((overview.nodes, overview.embedded, overview.open, overview.dead), (3, 2, 0, 0));

    // Without a vector, full text answers and says so.
    let recalled = htm.recall(&RecallQuery::new("tabs")).await.unwrap();
    assert_eq!((recalled.hits[0].node.id, recalled.degraded[0].code), (tabs, "model_of_callers"));
    // Nothing can be computed.
    let request = BackfillRequest::new(Stage::Embed);
    assert_eq!(code(htm.start_backfill(&request).await), "model_of_callers");

    // A forgotten node is found by nothing, and comes back with its vector.
    htm.forget(tabs, &Caller::AnyRobot, Confirmation::Confirmed).await.unwrap();
    assert_eq!(nearest(&htm, [1.0, 0.0, 0.0, 0.0]).await, [(many[0], false)]);
    htm.restore(tabs, &Caller::AnyRobot).await.unwrap();
    assert_eq!(nearest(&htm, [1.0, 0.0, 0.0, 0.0]).await.len(), 2);
    assert_eq!(embed_jobs(&db).await, 0);
}

#[tokio::test]
async fn a_vector_is_of_one_revision() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    add(&htm).await;
    let node = htm.remember(Memory::new("one")).await.unwrap().node;
    let set = |revision, vector: [f32; 4]| {
        let htm = htm.clone();
        async move { htm.set_vector(node, revision, MINE, &vector, &Caller::Handle).await }
    };
    set(1, [1.0, 0.0, 0.0, 0.0]).await.unwrap();
    assert_eq!(nearest(&htm, [1.0, 0.0, 0.0, 0.0]).await, [(node, false)]);
    htm.edit(node, &Edit::new().content("two")).await.unwrap();
    // Found by the vector of the old text, which is marked, until the new one is there.
    assert_eq!(nearest(&htm, [1.0, 0.0, 0.0, 0.0]).await, [(node, true)]);
    assert!(matches!(stage(&htm, node).await, StageState::Awaited));
    assert_eq!(code(set(1, [0.0, 1.0, 0.0, 0.0]).await), "revision_conflict");
    let of_other = htm.set_vector(node, 2, MINE, &[1.0; 4], &Caller::Robot("other".into())).await;
    assert_eq!(code(of_other), "not_owner");
    set(2, [0.0, 1.0, 0.0, 0.0]).await.unwrap();
    assert_eq!(nearest(&htm, [0.0, 1.0, 0.0, 0.0]).await, [(node, false)]);
    assert_eq!(db.count("select count(*) from htm.completions where stage = 'embed'").await, 1);
    // The same text again brings its vector, also for a memory with a key.
    let again = Memory::new("two").vector(MINE, vec![0.0, 0.0, 1.0, 0.0]);
    assert_eq!(htm.remember(again).await.unwrap().outcome, Outcome::Repeated);
    let keyed = Memory::new("three").key("k");
    let keyed_node = htm.remember(keyed.clone()).await.unwrap().node;
    let receipt = htm.remember(keyed.vector(MINE, vec![0.0, 0.0, 0.9, 0.1])).await.unwrap();
    assert_eq!((receipt.node, receipt.outcome), (keyed_node, Outcome::Existing));
    assert_eq!(nearest(&htm, [0.0, 0.0, 1.0, 0.0]).await, [(node, false), (keyed_node, false)]);
}

#[tokio::test]
async fn two_models_stand_side_by_side() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let before = htm.remember(Memory::new("Mara prefers tabs.")).await.unwrap().node;
    drain(&db, Stage::Embed).await;
    assert_eq!(add(&htm).await, ModelState::Building);
    let after = Memory::new("Staging is on port 5433.").vector(MINE, vec![0.0, 1.0, 0.0, 0.0]);
    let after = htm.remember(after).await.unwrap().node;
    // A job of the model that computes, and none of the other.
    assert_eq!(embed_jobs(&db).await, 2);
    drain(&db, Stage::Embed).await;
    assert_eq!(nearest(&htm, [0.0, 1.0, 0.0, 0.0]).await, [(after, false)]);

    let models = htm.models().unwrap();
    let refused = models.activate(MINE, false).await.unwrap_err();
    assert_eq!(refused.code(), "model_incomplete");
    assert!(refused.hint().contains("set_vector"), "{}", refused.hint());
    htm.set_vector(before, 1, MINE, &[1.0, 0.0, 0.0, 0.0], &Caller::Handle).await.unwrap();
    let activation = models.activate(MINE, false).await.unwrap();
    assert_eq!((activation.active.as_str(), activation.enqueued), (MINE, 0));
    assert_eq!(activation.standby.as_deref(), Some("fake/bag-of-words"));
    embeddings_are_seen(&db, &htm).await;
    let by_mine = RecallQuery::new("tabs").vector(vec![1.0, 0.0, 0.0, 0.0]);
    let recalled = htm.recall(&by_mine).await.unwrap();
    assert_eq!((recalled.models, recalled.instead_of), (vec![MINE.to_owned()], None));
    // Without a vector, the complete model on standby answers.
    let recalled = htm.recall(&RecallQuery::new("tabs")).await.unwrap();
    assert_eq!(
        (recalled.models[0].as_str(), recalled.instead_of.as_deref()),
        ("fake/bag-of-words", Some(MINE))
    );
    drain(&db, Stage::Tag).await;
    assert!(htm.jobs().unwrap().audit().await.unwrap().is_clean());

    // Back again; then the caller's model is retired, and takes nothing any more.
    models.activate("fake/bag-of-words", false).await.unwrap();
    assert_eq!(models.retire(MINE, true).await.unwrap(), 0);
    embeddings_are_seen(&db, &htm).await;
    let late = Memory::new("late").vector(MINE, vec![1.0, 0.0, 0.0, 0.0]);
    assert_eq!(code(htm.remember(late).await), "model_retired");
}

/// Waits until the handle has read the models anew, which takes it up to a second.
async fn embeddings_are_seen(db: &TestDatabase, htm: &Htm) {
    let active = embeddings::models(&db.pool).await.unwrap().remove(0).label;
    htm_tests::wait_until(|| async {
        let recalled = htm.recall(&RecallQuery::new("tabs").strategy(Strategy::Hybrid)).await.unwrap();
        recalled.instead_of.as_deref().or(recalled.models.first().map(String::as_str))
            == Some(active.as_str())
    })
    .await;
}

#[tokio::test]
async fn a_vector_that_does_not_fit_is_refused_before_anything_is_written() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    drain(&db, Stage::Embed).await;
    add(&htm).await;
    let node = htm.remember(Memory::new("there")).await.unwrap().node;
    for (label, vector, expected) in [
        (MINE, vec![1.0, 0.0, 0.0], "vector_unfit"),
        (MINE, vec![1.0, 0.0, 0.0, f32::NAN], "vector_unfit"),
        (MINE, vec![1.0, 0.0, f32::INFINITY, 0.0], "vector_unfit"),
        (MINE, vec![0.0; 4], "vector_unfit"),
        (MINE, vec![1e-9; 4], "vector_unfit"),
        (MINE, vec![1e6; 4], "vector_unfit"),
        (MINE, vec![], "vector_unfit"),
        ("fake/bag-of-words", vec![1.0; 64], "vector_unfit"),
        ("caller/other", vec![1.0; 4], "model_unknown"),
    ] {
        let memory = Memory::new("refused").vector(label, vector.clone());
        assert_eq!(code(htm.remember(memory.clone()).await), expected, "{vector:?}");
        let many = htm.remember_many(&[memory, Memory::new("there")]).await.unwrap();
        assert_eq!(many[0].as_ref().unwrap_err().code(), expected);
        assert!(many[1].is_ok());
        assert_eq!(code(htm.set_vector(node, 1, label, &vector, &Caller::Handle).await), expected);
        if label == MINE {
            let query = RecallQuery::new("there").model(MINE).vector(vector);
            assert_eq!(code(htm.recall(&query).await), expected);
        }
    }
    assert_eq!(db.count("select count(*) from htm.nodes").await, 1);
    let empty = TestDatabase::new().await;
    let vector = || RecallQuery::new("there").vector(vec![1.0; 4]);
    assert_eq!(code(empty.htm().recall(&vector()).await), "vector_unfit");
    assert_eq!(code(htm.recall(&vector().model(MINE).model("fake/bag-of-words")).await), "vector_unfit");
    assert_eq!(code(htm.recall(&vector().strategy(Strategy::Fulltext)).await), "vector_unfit");
    assert_eq!(code(htm.recall(&RecallQuery { text: " ".into(), ..vector() }).await), "content_empty");
}

#[tokio::test]
async fn vectors_come_with_imported_lines() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    add(&htm).await;
    let mut importer = htm.importer(100, 1 << 20);
    let mut results = Vec::new();
    for line in [
        r#"{"id": "a", "ns": "default", "text": "Mara prefers tabs.", "vectors": {"caller/mine": [1, 0, 0, 0]}}"#,
        r#"{"id": "b", "ns": "default", "text": "Too short.", "vectors": {"caller/mine": [1]}}"#,
    ] {
        results.extend(importer.line(line.as_bytes()).await.unwrap());
    }
    results.extend(importer.finish().await.unwrap());
    let codes: Vec<_> = results.iter().map(|(_, result)| result.as_ref().err().map(|it| it.code())).collect();
    assert_eq!(codes, [None, Some("vector_unfit")]);
    let node = htm.get_by_key(None, "a").await.unwrap().unwrap().id;
    assert_eq!(nearest(&htm, [1.0, 0.0, 0.0, 0.0]).await, [(node, false)]);
}

/// A handle keeps the models for a moment. A new one is found at once all the same.
#[tokio::test]
async fn a_new_model_is_searched_at_once() {
    let db = TestDatabase::new().await;
    let htm = Htm::with_pool(db.pool.clone(), Settings::default(), None);
    add(&htm).await;
    nearest(&htm, [1.0, 0.0, 0.0, 0.0]).await;
    db.htm().models().unwrap().add(&ModelName::new(CALLER, "new"), 2).await.unwrap();
    let query = RecallQuery::new("").strategy(Strategy::Vector).model("caller/new").vector(vec![1.0, 0.0]);
    assert_eq!(htm.recall(&query).await.unwrap().models, ["caller/new"]);
}

/// The text is only a time, in which the nearest memory is not the latest.
#[tokio::test]
async fn a_vector_beside_a_time_finds_the_nearest_of_that_time() {
    let db = TestDatabase::new().await;
    let htm = Htm::with_pool(db.pool.clone(), Settings::default(), None);
    add(&htm).await;
    for (text, day, vector) in [
        ("near", "2026-03-10", [1.0, 0.0, 0.0, 0.0]),
        ("far", "2026-03-12", [0.6, 0.8, 0.0, 0.0]),
        ("later", "2026-04-12", [1.0, 0.0, 0.0, 0.0]),
    ] {
        let at = format!("{day}T12:00:00Z").parse().unwrap();
        htm.remember(Memory::new(text).at(at).vector(MINE, vector.to_vec())).await.unwrap();
    }
    let query = RecallQuery::new("March 2026").timeframe(TimeFilter::Auto).vector(vec![1.0, 0.0, 0.0, 0.0]);
    let found = async |strategy| {
        let recalled = htm.recall(&query.clone().strategy(strategy)).await.unwrap();
        let hits = recalled.hits.into_iter().map(|hit| (hit.node.content, hit.matched_by));
        hits.collect::<Vec<_>>()
    };
    let hits = |texts: [&str; 2], by| texts.map(|text| (text.to_owned(), by));
    for strategy in [Strategy::Auto, Strategy::Hybrid, Strategy::Vector] {
        assert_eq!(found(strategy).await, hits(["near", "far"], MatchedBy::Vector), "{strategy}");
    }
}
