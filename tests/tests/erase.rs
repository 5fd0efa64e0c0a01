//! Erasing: what is gone from every table and every memory, what goes on after an interruption, and what is in progress
//! meanwhile.

#[path = "erase/meanwhile.rs"]
mod meanwhile;
#[path = "erase/namespaces.rs"]
mod namespaces;
#[path = "erase/places.rs"]
mod places;
#[path = "erase/selections.rs"]
mod selections;

use std::time::Duration;

use htm_core::job::Payload;
use htm_core::provider::ModelName;
use htm_core::worker::jobs::{self, Claimed, Embedded, Failed, Lease, Verdict};
use htm_core::worker::{embeddings, statistics, workers};
use htm_core::{
    Caller, Confirmation, Edit, Erase, Erasure, Expiry, Htm, JoinOptions, Memory, NodeId, Operation,
    RecallQuery, Stage,
};
use htm_tests::{TestDatabase, drain};
use serde_json::json;
use sqlx::AssertSqlSafe;

use Confirmation::Confirmed;

/// A word that only the erased texts have. The stem of a word of a text is the same.
const CANARY: &str = "zeppelin";
/// A number that nothing else has.
const FIRST_ID: i64 = 987_654_321;

async fn erase(htm: &Htm, node: NodeId) -> Erasure {
    htm.erase(&Erase::Memories(vec![node]), None, Confirmed).await.unwrap()
}

/// Whether the server can delete the planner's samples of an empty table: since PostgreSQL 18.
async fn clears_samples(db: &TestDatabase) -> bool {
    db.count("select current_setting('server_version_num')::bigint").await >= 180_000
}

/// The tables with a row that contains a text, in any column and as bytes too.
async fn tables_with(db: &TestDatabase, text: &str) -> Vec<String> {
    let tables: Vec<String> = sqlx::query_scalar(
        "select format('%I.%I', n.nspname, c.relname) from pg_class c join pg_namespace n on n.oid = c.relnamespace
          where n.nspname in ('htm', 'apalis') and c.relkind in ('r', 'p') and not c.relispartition
          order by 1",
    )
    .fetch_all(&db.pool)
    .await
    .unwrap();
    assert!(tables.len() > 30, "{tables:?}");
    let mut found = Vec::new();
    for table in tables {
        let rows = format!(
            "select count(*) from {table} t
              where to_jsonb(t)::text ilike '%' || $1 || '%'
                 or to_jsonb(t)::text like '%' || encode(convert_to($1, 'UTF8'), 'hex') || '%'"
        );
        let rows: i64 = sqlx::query_scalar(AssertSqlSafe(rows)).bind(text).fetch_one(&db.pool).await.unwrap();
        if rows > 0 {
            found.push(table);
        }
    }
    found
}

/// Claims the jobs of a queue as a worker would.
async fn claim(db: &TestDatabase, queue: &str, model: &str, worker: &str) -> (Lease, Vec<Claimed>) {
    workers::register(&db.pool, queue, worker, "test", 30_000).await.unwrap();
    jobs::claim(&db.pool, queue, model, worker, 100).await.unwrap().expect("a job is due")
}

/// Two memories with some of everything that the database can hold about one.
async fn with_everything(db: &TestDatabase, htm: &Htm) -> Vec<NodeId> {
    sqlx::query(AssertSqlSafe(format!("alter table htm.nodes alter column id restart with {FIRST_ID}")))
        .execute(&db.pool)
        .await
        .unwrap();
    // A second model, whose vectors are in a table of their own.
    drain(db, Stage::Embed).await;
    let second = embeddings::register_model(&db.pool, &ModelName::new("fake", "second"), 4).await.unwrap();
    let memory = Memory::new("The zeppelin is due on Friday.")
        .key("zeppelin-1")
        .source("minutes of the zeppelin")
        .tag("vehicle:zeppelin".parse().unwrap())
        .tag("airship".parse().unwrap())
        .metadata("ship", json!("zeppelin"))
        .expires(Expiry::After(Duration::from_secs(86_400)));
    htm.remember_once(&operation(), &[memory], |results| {
        let results: Vec<_> = results.into_iter().map(Result::unwrap).collect();
        json!({ "results": results, "said": "the zeppelin is remembered" })
    })
    .await
    .unwrap();
    let node = NodeId(FIRST_ID);
    assert_eq!(htm.get(node).await.unwrap().id, node);
    for stage in Stage::ALL {
        drain(db, stage).await;
    }
    let (lease, claimed) = claim(db, second.queue.as_deref().unwrap(), &second.label, "holder").await;
    let embedded =
        Embedded { job: claimed[0].id.clone(), node, revision: 1, embedding: vec![0.5; 4], parts: 1 };
    assert_eq!(jobs::ack_embedded(&db.pool, &lease, &second, &[embedded]).await.unwrap(), 1);
    // Edited, merged in the log of the ontology, recalled.
    htm.edit(node, &Edit::new().content("The zeppelin is late.")).await.unwrap();
    htm.ontology(None).unwrap().merge(&["airship"], "vehicle").await.unwrap();
    assert!(!htm.recall(&RecallQuery::new("zeppelin")).await.unwrap().hits.is_empty());
    // Repeated by another robot.
    let other = htm.remember(Memory::new("A zeppelin needs a mast.")).await.unwrap().node;
    htm.remember(Memory::new("A zeppelin needs a mast.").robot("bea")).await.unwrap();
    // In the working memories of a robot and of a group.
    let robot = htm.robot("ada").await.unwrap();
    robot.add(&[node]).await.unwrap();
    robot.close().await.unwrap();
    let member = htm.group("crew").join("ada", JoinOptions::default()).await.unwrap();
    member.add(node).await.unwrap();
    member.leave().await.unwrap();
    htm.flush().await;
    // A dead letter that quotes the text, and jobs that wait.
    let (lease, claimed) = claim(db, "htm.tag", "fake/tags", "tagger").await;
    let reason = "provider_unusable_answer: no tags\n{\"tags\": \"zeppelin\"}".to_owned();
    let is_of_node = |job: &&Claimed| Payload::decode(&job.payload).unwrap().node == node;
    let job = claimed.iter().find(is_of_node).expect("its new text is to be tagged").id.clone();
    let failed = Failed { job, reason, verdict: Verdict::Dead };
    assert_eq!(jobs::fail(&db.pool, &lease, &[failed], Duration::from_secs(60)).await.unwrap().len(), 1);
    statistics::refresh(&db.pool, "default").await.unwrap();
    vec![node, other]
}

fn operation() -> Operation {
    Operation::new("", "op-1", b"POST a zeppelin").unwrap()
}

#[tokio::test]
async fn nothing_about_a_memory_is_left() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let kept = htm.remember(Memory::new("The ledger is in PostgreSQL.")).await.unwrap().node;
    let nodes = with_everything(&db, &htm).await;
    let before = tables_with(&db, CANARY).await;
    for table in [
        "apalis.jobs",
        "htm.lexeme_statistics",
        "htm.node_revisions",
        "htm.nodes",
        "htm.operations",
        "htm.tags",
    ] {
        assert!(before.iter().any(|it| it == table), "{table}: {before:?}");
    }
    let what = Erase::Memories(nodes.clone());
    let plan = htm.plan_erase(&what).await.unwrap();
    assert_eq!((plan.memories, plan.matches.len()), (2, 2));
    let erased = htm.erase(&what, Some(&plan.plan), Confirmed).await.unwrap();
    assert!(erased.ended_at.is_some() && erased.erased == 2, "{erased:?}");
    let of_nodes = [
        "apalis.jobs",
        "htm.completions",
        "htm.embeddings_1",
        "htm.embeddings_2",
        "htm.group_memory",
        "htm.node_accesses",
        "htm.node_revisions",
        "htm.node_tags",
        "htm.nodes",
        "htm.repeats",
        "htm.tag_change_nodes",
        "htm.working_memory",
    ];
    assert_eq!(plan.removed.keys().collect::<Vec<_>>(), of_nodes);
    for (table, rows) in &plan.removed {
        assert_eq!(erased.removed.get(table), Some(rows), "{table}");
    }
    assert_eq!(erased.removed["htm.operations"], 1);

    assert_eq!(tables_with(&db, CANARY).await, [""; 0]);
    // Beside the receipt, one number says up to where words were counted.
    let numbers = tables_with(&db, &FIRST_ID.to_string()).await;
    assert!(
        numbers.iter().all(|it| it == "htm.erased_nodes" || it == "htm.statistics_watermark"),
        "{numbers:?}"
    );
    let verified = htm.verify_erasure(erased.id, Some(CANARY)).await.unwrap();
    assert!(verified.is_clean, "{verified:?}");
    let gone = |error: htm_core::Error| assert_eq!(error.code(), "node_not_found");
    gone(htm.get(nodes[0]).await.unwrap_err());
    gone(htm.restore(nodes[0], &Caller::AnyRobot).await.unwrap_err());
    gone(htm.erase(&what, None, Confirmed).await.unwrap_err());
    assert_eq!(htm.get(kept).await.unwrap().content, "The ledger is in PostgreSQL.");
    let tags = htm.ontology(None).unwrap().list(None).await.unwrap();
    assert!(tags.iter().any(|it| it.tag.to_string() == "vehicle"), "the log of the ontology names it");
    // A retry of the write does not write it again.
    let again = [Memory::new("The zeppelin is due on Friday.")];
    let retried = htm.remember_once(&operation(), &again, |_| json!(null)).await.unwrap_err();
    assert_eq!(retried.code(), "operation_erased");
    let log = htm.audit_log(None, 1).await.unwrap();
    assert_eq!((log[0].action.as_str(), log[0].subject.as_deref()), ("erase", Some(&*erased.id.to_string())));
}
