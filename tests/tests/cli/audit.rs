//! `htm jobs audit`.

use htm_core::Stage;
use htm_core::worker::{jobs, workers};
use htm_tests::{Sandbox, TestDatabase, drain};
use serde_json::{Value, json};

use crate::filtered;

async fn run(db: &TestDatabase, statement: &'static str) {
    sqlx::raw_sql(statement).execute(&db.pool).await.unwrap();
}

#[tokio::test]
async fn what_is_lost_is_found_and_mended() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    assert_eq!(sandbox.htm(&["jobs", "audit"]).await.succeeds(), "0 stranded\n");
    for text in ["first", "second", "third"] {
        sandbox.remember(&["--namespace", "atlas", text]).await;
    }
    for stage in Stage::ALL {
        drain(&db, stage).await;
    }
    sandbox.remember(&["loses its tag job"]).await;
    sandbox.remember(&["loses both"]).await;
    assert_eq!(sandbox.htm(&["jobs", "audit"]).await.succeeds(), "0 stranded\n");
    run(
        &db,
        "delete from apalis.jobs where status = 'Pending' and (job_type = 'htm.tag' or metadata -> 'node' = '5');
         delete from htm.embeddings_1 where node_id = 1;
         delete from htm.completions where node_id = 2 and stage = 'tag'",
    )
    .await;
    let answer = sandbox.htm(&["jobs", "audit"]).await;
    insta::assert_snapshot!(filtered(&answer.exits(1).stdout));
    let answer = sandbox.htm(&["jobs", "audit", "--json"]).await;
    let found: Value = serde_json::from_str(&answer.exits(1).stdout).unwrap();
    let stranded: Vec<(String, &str, &str)> = found["stranded"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["node"].to_string(), it["stage"].as_str().unwrap(), it["lost"].as_str().unwrap()))
        .collect();
    let expected = [
        ("2", "tag", "job"),
        ("4", "tag", "job"),
        ("5", "embed", "job"),
        ("5", "tag", "job"),
        ("1", "embed", "vector"),
    ];
    assert_eq!(stranded, expected.map(|(node, stage, lost)| (node.to_owned(), stage, lost)));

    // The done job's row of node 1 is still there; its key must not keep the new one out.
    let answer = sandbox.htm(&["jobs", "audit", "--repair", "--json"]).await.json();
    assert_eq!((answer["stranded"].as_array().unwrap().len(), &answer["repaired"]), (5, &json!(5)));
    assert_eq!(sandbox.htm(&["jobs", "audit"]).await.succeeds(), "0 stranded\n");
    let answer = sandbox.htm(&["jobs", "audit", "--repair"]).await;
    assert_eq!(answer.succeeds(), "0 stranded\n");
    for stage in Stage::ALL {
        drain(&db, stage).await;
    }
    assert_eq!(sandbox.htm(&["jobs", "audit"]).await.succeeds(), "0 stranded\n");
    assert_eq!(db.count("select count(*) from htm.embeddings_1").await, 5);
    assert_eq!(db.count("select count(*) from htm.completions").await, 10);
    assert_eq!(db.count("select count(*) from apalis.jobs where status <> 'Done'").await, 0);
}

#[tokio::test]
async fn a_vector_of_an_older_revision_is_none() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    sandbox.remember(&["edited"]).await;
    for stage in Stage::ALL {
        drain(&db, stage).await;
    }
    run(&db, "update htm.nodes set revision = 2; update htm.completions set revision = 2").await;
    let answer = sandbox.htm(&["jobs", "audit"]).await;
    assert!(answer.exits(1).stdout.starts_with("1 stranded\n"), "{answer:?}");
    let answer = sandbox.htm(&["jobs", "audit", "--repair"]).await;
    assert!(answer.succeeds().ends_with("enqueued 1 job\n"), "{answer:?}");
    drain(&db, Stage::Embed).await;
    assert_eq!(db.count("select revision::bigint from htm.embeddings_1").await, 2);
}

#[tokio::test]
async fn jobs_that_their_worker_does_not_hold_are_told() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let unheld = async || sandbox.htm(&["jobs", "audit", "--json"]).await.json()["unheld"].clone();
    workers::register(&db.pool, "htm.embed", "w", "embed-worker 0.1.0 fake/fake-64", 60_000).await.unwrap();
    sandbox.remember(&["claimed, and the answer was lost"]).await;
    jobs::claim(&db.pool, "htm.embed", "fake/fake-64", "w", 10).await.unwrap().unwrap();
    assert_eq!(unheld().await, 0, "the answer may be on its way");
    sandbox.remember(&["claimed after it, and in hand"]).await;
    let (lease, _) = jobs::claim(&db.pool, "htm.embed", "fake/fake-64", "w", 10).await.unwrap().unwrap();
    assert!(workers::heartbeat(&db.pool, "w", Some(lease.claimed_at)).await.unwrap());
    assert_eq!(unheld().await, 1);
    let answer = sandbox.htm(&["jobs", "audit"]).await;
    assert!(answer.succeeds().contains("does not hold them, to be released by it: 1 job\n"), "{answer:?}");
    assert_eq!(jobs::release_unheld(&db.pool, "w", &[]).await.unwrap(), 2);
    assert_eq!(unheld().await, 0);
}

#[tokio::test]
async fn dead_letters_and_lost_workers_are_told_and_are_no_failure() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    sandbox.remember(&["held by nobody"]).await;
    workers::register(&db.pool, "htm.embed", "lost", "embed-worker 0.1.0 fake/fake-64", 1_000).await.unwrap();
    jobs::claim(&db.pool, "htm.embed", "fake/fake-64", "lost", 10).await.unwrap().unwrap();
    run(
        &db,
        "update apalis.workers set last_seen = now() - interval '1 minute';
         update apalis.jobs set status = 'Killed', done_at = now() where job_type = 'htm.tag'",
    )
    .await;
    let answer = sandbox.htm(&["jobs", "audit"]).await;
    insta::assert_snapshot!(answer.succeeds());
    let answer = sandbox.htm(&["jobs", "audit", "--json"]).await.json();
    let expected = json!({
        "stranded": [], "awaiting_rescue": 1, "unheld": 0, "dead_letters": 1, "states_guarded": true, "repaired": 0,
    });
    assert_eq!(answer, expected);
    run(&db, "alter table apalis.jobs drop constraint jobs_htm_state_possible").await;
    let answer = sandbox.htm(&["jobs", "audit"]).await;
    assert!(answer.exits(1).stdout.contains("jobs_htm_state_possible"), "{answer:?}");
}
