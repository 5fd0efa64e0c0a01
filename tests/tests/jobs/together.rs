//! Two jobs of one node in one batch.

use htm_core::provider::{ModelName, TagOrigin, TagSuggestion};
use htm_core::worker::jobs::{self, Embedded, Tagged, TaggedBy};
use htm_core::worker::{queues, workers};
use htm_core::{Edit, Memory, NodeId, Stage};
use htm_tests::TestDatabase;

use crate::{claim_as, embedded, register};

/// A node with two jobs a stage, as a forced backfill beside an open job may leave them.
async fn with_two_jobs_a_stage(db: &TestDatabase) -> NodeId {
    let node = db.htm().remember(Memory::new("twice")).await.unwrap().node;
    sqlx::query(
        "insert into apalis.jobs (id, job_type, job, status, attempts, max_attempts, run_at, priority, metadata,
                                  idempotency_key)
         select apalis.generate_ulid(), job_type, job, status, attempts, max_attempts, run_at, priority, metadata,
                idempotency_key || '/again'
           from apalis.jobs",
    )
    .execute(&db.pool)
    .await
    .unwrap();
    node
}

/// The outcomes of the jobs of a stage.
async fn ends(db: &TestDatabase, stage: Stage) -> Vec<String> {
    sqlx::query_scalar(
        "select last_result ->> 'Ok' from apalis.jobs where job_type = $1 and status = 'Done' order by (metadata -> 'revision')::int",
    )
    .bind(stage.queue())
    .fetch_all(&db.pool)
    .await
    .unwrap()
}

#[tokio::test]
async fn two_jobs_of_one_node_in_one_batch_both_end() {
    let db = TestDatabase::new().await;
    let model = register(&db).await;
    let node = with_two_jobs_a_stage(&db).await;
    let (lease, claimed) = claim_as(&db, "worker").await;
    let results: Vec<Embedded> = claimed.iter().map(|job| embedded(job, node)).collect();
    assert_eq!(jobs::ack_embedded(&db.pool, &lease, &model, &results).await.unwrap(), 2);
    assert_eq!(ends(&db, Stage::Embed).await, ["embedded", "embedded"]);
    assert_eq!(db.count("select count(*) from htm.embeddings_1").await, 1);

    workers::register(&db.pool, Stage::Tag.queue(), "worker", "test", 30_000).await.unwrap();
    let (lease, claimed) = jobs::claim(&db.pool, Stage::Tag.queue(), "fake/scripted", "worker", 100)
        .await
        .unwrap()
        .expect("jobs are due");
    let tags = vec![TagSuggestion { path: "a:b".parse().unwrap(), confidence: None }];
    let results: Vec<Tagged> = claimed
        .iter()
        .map(|job| Tagged {
            job: job.id.clone(),
            node,
            namespace: "default".into(),
            revision: 1,
            tags: tags.clone(),
        })
        .collect();
    let model = ModelName::new("fake", "scripted");
    let rules = &htm_core::TagRules::default();
    let by = TaggedBy { model: &model, version: "1", origin: TagOrigin::Llm, rules };
    assert_eq!(jobs::ack_tagged(&db.pool, &lease, by, &results).await.unwrap(), 2);
    assert_eq!(ends(&db, Stage::Tag).await, ["tagged", "tagged"]);
    assert_eq!(db.count("select count(*) from htm.node_tags").await, 1);
    assert_eq!(queues::count_stranded(&db.pool).await.unwrap(), 0);
}

#[tokio::test]
async fn a_job_of_a_former_text_in_a_batch_with_that_of_the_new_one_is_not_sent() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let node = htm.remember(Memory::new("first")).await.unwrap().node;
    let model = register(&db).await;
    claim_as(&db, "slow").await;
    htm.edit(node, &Edit::new().content("second")).await.unwrap();
    // The one of the first text is given back; both are due.
    let back =
        "update apalis.jobs set status = 'Pending', lock_by = null, lock_at = null where status = 'Running'";
    sqlx::query(back).execute(&db.pool).await.unwrap();
    let wanted = [(node, 1, "default"), (node, 2, "default"), (node, 2, "other")];
    let texts = htm_core::worker::nodes::contents(&db.pool, &wanted).await.unwrap();
    assert_eq!(texts.into_keys().collect::<Vec<_>>(), [(node, 2)]);
    // Were it sent all the same, its result is thrown away, and that of the other one is not.
    let (lease, claimed) = claim_as(&db, "worker").await;
    let results: Vec<Embedded> = claimed
        .iter()
        .map(|job| {
            let revision = htm_core::job::Payload::decode(&job.payload).unwrap().revision;
            Embedded { revision, ..embedded(job, node) }
        })
        .collect();
    assert_eq!(jobs::ack_embedded(&db.pool, &lease, &model, &results).await.unwrap(), 2);
    assert_eq!(ends(&db, Stage::Embed).await, ["superseded", "embedded"]);
}

#[tokio::test]
async fn tags_of_many_namespaces_are_written_in_as_many_transactions_as_their_locks_need() {
    let db = TestDatabase::new().await;
    let memories: Vec<Memory> =
        (0..600).map(|n| Memory::new("many").namespace(format!("tenant {n}"))).collect();
    let written = db.htm().remember_many(&memories).await.unwrap();
    workers::register(&db.pool, Stage::Tag.queue(), "worker", "test", 30_000).await.unwrap();
    let (lease, claimed) = jobs::claim(&db.pool, Stage::Tag.queue(), "fake/scripted", "worker", 1_000)
        .await
        .unwrap()
        .expect("jobs are due");
    assert_eq!(claimed.len(), memories.len());
    let tag = |path: &str| TagSuggestion { path: path.parse().unwrap(), confidence: None };
    let results: Vec<Tagged> = claimed
        .iter()
        .map(|job| {
            let node = htm_core::job::Payload::decode(&job.payload).unwrap().node;
            let place = written.iter().position(|it| it.as_ref().unwrap().node == node).unwrap();
            let namespace = format!("tenant {place}");
            Tagged { job: job.id.clone(), node, namespace, revision: 1, tags: vec![tag("a:b"), tag("c:d")] }
        })
        .collect();
    let model = ModelName::new("fake", "scripted");
    let rules = &htm_core::TagRules::default();
    let by = TaggedBy { model: &model, version: "1", origin: TagOrigin::Llm, rules };
    assert_eq!(jobs::ack_tagged(&db.pool, &lease, by, &results).await.unwrap(), 600);
    assert_eq!(db.count("select count(*) from htm.node_tags").await, 1_200);
    // 1 + 4 locks a namespace, 1,000 a transaction.
    assert_eq!(db.count("select count(distinct xmin::text) from htm.node_tags").await, 3);
}
