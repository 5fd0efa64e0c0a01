//! What a worker's log tells of jobs without a result.

use htm_core::Stage;
use htm_tests::{Running, TestDatabase, wait_until};
use serde_json::{Value, json};
use wiremock::ResponseTemplate;

use crate::stage::*;

/// The lines of a worker's log with this message.
fn told(worker: &Running, message: &str) -> Vec<Value> {
    let log = worker.log();
    let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.filter(|line| line["message"] == message).collect()
}

#[tokio::test]
async fn jobs_that_end_for_the_same_reason_have_one_line() {
    let db = TestDatabase::new().await;
    let provider = Provider::new(|texts, before| match before {
        0 => refusal(429, "rate_limit_exceeded", "slow down").append_header("retry-after", "1"),
        1 => ResponseTemplate::new(500),
        _ => vectors(texts),
    })
    .await;
    let sandbox = provider.sandbox(&db.url());
    remember(&db.pool, "told", 16).await;
    let worker = sandbox.start("embed-worker", &["--concurrency", "1"]);
    until_done(&db.pool, Stage::Embed).await;
    let put_off = told(&worker, "jobs were put off");
    let [first, ..] = &put_off[..] else { panic!("{}", worker.log()) };
    assert_eq!((&first["level"], &first["jobs"]), (&json!("INFO"), &json!(16)));
    assert!(first["reason"].as_str().unwrap().starts_with("provider_rate_limited: "), "{first}");
    assert_eq!(first["job"].as_str().unwrap().len(), 26);
    let failed = told(&worker, "jobs failed");
    assert!(failed.iter().all(|line| line["level"] == "WARN"), "{failed:?}");
    assert_eq!(failed.len(), 1, "of one call: {failed:?}");
    let batch = &told(&worker, "batch")[0];
    let ends = ["done", "failed", "deferred", "parked", "dead"].map(|end| batch[end].as_u64());
    assert_eq!(ends, [Some(0), Some(0), Some(16), Some(0), Some(0)], "{batch}");
    assert!(told(&worker, "the provider limits the rate").iter().all(|line| line["level"] == "INFO"));
}

#[tokio::test]
async fn a_sweep_that_fails_has_a_name() {
    let db = TestDatabase::new().await;
    sqlx::raw_sql("alter table htm.operations rename to elsewhere").execute(&db.pool).await.unwrap();
    let sandbox = impatient(&db.url());
    let worker = sandbox.start("embed-worker", &[]);
    wait_until(|| async { !told(&worker, "a sweep failed: old operations").is_empty() }).await;
}
