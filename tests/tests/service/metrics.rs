//! `/metrics`: that it has what it should, and counts what happens.

use std::collections::BTreeMap;
use std::time::Duration;

use htm_core::worker::gauges::{QueueGauges, gauges};
use htm_tests::{Sandbox, TestDatabase, enqueue_learning, wait_until};

use crate::exposition::Scrape;
use crate::{Served, hold, remember};

/// Every metric, with its type and its labels.
const METRICS: &[(&str, &str, &[&str])] = &[
    ("htm_queue_jobs", "gauge", &["queue", "state"]),
    ("htm_queue_oldest_due_age_seconds", "gauge", &["queue"]),
    ("htm_jobs_in_flight", "gauge", &["queue"]),
    ("htm_claims", "counter", &["queue"]),
    ("htm_claim_seconds", "histogram", &["queue"]),
    ("htm_job_attempts", "counter", &["queue"]),
    ("htm_job_outcomes", "counter", &["outcome", "queue"]),
    ("htm_provider_calls", "counter", &["model", "outcome", "queue"]),
    ("htm_provider_call_seconds", "histogram", &["model", "queue"]),
    ("htm_provider_tokens", "counter", &["model", "queue"]),
    ("htm_batch_size", "histogram", &["queue"]),
    ("htm_worker_info", "gauge", &["model", "program", "queue", "version"]),
];

const OUTCOMES: [&str; 7] = ["dead", "deferred", "done", "parked", "released", "retried", "superseded"];

pub(crate) async fn scrape(worker: &Served) -> Scrape {
    Scrape::read(&worker.get("/metrics").await.1)
}

#[tokio::test]
async fn every_metric_is_there_from_the_start() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    for (program, queue) in [("embed-worker", "htm.embed"), ("tag-worker", "htm.tag")] {
        let worker = Served::ready(&sandbox, program).await;
        let scrape = scrape(&worker).await;
        let documented: BTreeMap<String, String> =
            METRICS.iter().map(|(name, kind, _)| ((*name).to_owned(), (*kind).to_owned())).collect();
        assert_eq!(scrape.types, documented);
        for (name, kind, labels) in METRICS {
            let sample = match *kind {
                "counter" => format!("{name}_total"),
                "histogram" => format!("{name}_count"),
                _ => (*name).to_owned(),
            };
            assert_eq!(scrape.labels(&sample), labels.iter().copied().collect(), "{sample}");
            assert_eq!(scrape.values(&sample, "queue"), [queue].into(), "{sample}");
        }
        assert_eq!(scrape.values("htm_job_outcomes_total", "outcome"), OUTCOMES.into());
        let states = ["dead", "due", "parked", "running", "waiting"];
        assert_eq!(scrape.values("htm_queue_jobs", "state"), states.into());
        assert_eq!(scrape.values("htm_worker_info", "program"), [program].into());
    }
}

#[tokio::test]
async fn what_a_worker_does_is_counted() {
    let db = TestDatabase::new().await;
    let worker = Served::ready(&Sandbox::new(&db), "embed-worker").await;
    remember(&db, 100).await;
    let done = [("outcome", "done")];
    wait_until(|| async { scrape(&worker).await.sum("htm_job_outcomes_total", &done) == Some(100.0) }).await;
    let scrape = scrape(&worker).await;
    assert_eq!(scrape.sum("htm_job_attempts_total", &[]), Some(100.0));
    assert_eq!(scrape.sum("htm_job_outcomes_total", &[]), Some(100.0));
    assert_eq!(scrape.sum("htm_batch_size_sum", &[]), Some(100.0));
    let calls = scrape.sum("htm_provider_calls_total", &[("outcome", "ok"), ("model", "fake/fake-64")]);
    assert!(calls >= Some(2.0), "100 texts in batches of 64: {calls:?}");
    assert_eq!(scrape.sum("htm_provider_call_seconds_count", &[]), calls);
    let claims = scrape.sum("htm_claims_total", &[]);
    assert!(claims >= Some(2.0), "{claims:?}");
    assert_eq!(scrape.sum("htm_claim_seconds_count", &[]), claims);
}

#[tokio::test]
async fn what_is_learnt_is_counted_without_calls() {
    let db = TestDatabase::new().await;
    let worker = Served::ready(&Sandbox::new(&db), "learn-worker").await;
    enqueue_learning(&db, "atlas").await;
    let done = [("outcome", "done")];
    wait_until(|| async { scrape(&worker).await.sum("htm_job_outcomes_total", &done) == Some(1.0) }).await;
    let scrape = scrape(&worker).await;
    assert_eq!(scrape.values("htm_worker_info", "queue"), ["htm.learn"].into());
    assert_eq!(scrape.sum("htm_provider_calls_total", &[]), None);
}

#[tokio::test]
async fn what_a_worker_holds_is_shown() {
    let db = TestDatabase::new().await;
    let worker = Served::ready(&Sandbox::new(&db), "embed-worker").await;
    let _blocker = hold(&db, 5).await;
    wait_until(|| async { scrape(&worker).await.sum("htm_jobs_in_flight", &[]) == Some(5.0) }).await;
}

#[tokio::test]
async fn a_provider_that_fails_is_counted_by_its_error() {
    let db = TestDatabase::new().await;
    // Nobody listens on port 1.
    let sandbox = Sandbox::new(&db)
        .set("HTM_TAG__PROVIDER", "openai")
        .set("HTM_OPENAI__BASE_URL", "http://127.0.0.1:1/v1")
        .set("HTM_OPENAI__API_KEY", "none");
    let worker = Served::ready(&sandbox, "tag-worker").await;
    remember(&db, 1).await;
    let unreachable = [("outcome", "provider_unreachable"), ("model", "openai/gpt-4o-mini")];
    wait_until(|| async { scrape(&worker).await.sum("htm_provider_calls_total", &unreachable) >= Some(1.0) })
        .await;
    let retried = [("outcome", "retried")];
    wait_until(|| async { scrape(&worker).await.sum("htm_job_outcomes_total", &retried) >= Some(1.0) }).await;
    assert_eq!(worker.get("/readyz").await.0, 200, "a provider that fails is no fault of the worker");
}

#[tokio::test]
async fn the_gauges_tell_the_states_apart() {
    let db = TestDatabase::new().await;
    assert_eq!(gauges(&db.pool, "htm.embed").await.unwrap(), QueueGauges::default());
    remember(&db, 15).await;
    sqlx::raw_sql(
        "insert into apalis.workers (id, worker_type, storage_name, last_seen)
         values ('w', 'htm.embed', 'htm', now());
         with job as (select id, row_number() over (order by id) as n from apalis.jobs where job_type = 'htm.embed')
         update apalis.jobs j
            set status   = case when n <= 1 then 'Running' when n <= 3 then 'Killed' when n = 4 then 'Done' else 'Pending' end,
                lock_by  = case when n <= 1 then 'w' end,
                lock_at  = case when n <= 1 then now() end,
                done_at  = case when n between 2 and 4 then now() end,
                priority = -10 * (n % 2),
                run_at   = now() + case when n between 8 and 10 then interval '1 hour'
                                        when n between 5 and 6 then interval '12 hours'
                                        when n = 11 then interval '-90 seconds' else interval '-1 second' end,
                metadata = case when n between 5 and 7 then -- the last of them until a moment ago
                                     metadata || 'parked=>provider_timeout' else metadata end
           from job where job.id = j.id",
    )
    .execute(&db.pool)
    .await
    .unwrap();
    let embed = gauges(&db.pool, "htm.embed").await.unwrap();
    let age = Duration::from_secs_f64(embed.oldest_due_age_seconds);
    assert!((90..180).contains(&age.as_secs()), "{age:?}");
    let counts = QueueGauges { oldest_due_age_seconds: 0.0, ..embed };
    let wanted =
        QueueGauges { due: 6, waiting: 3, parked: 2, running: 1, dead: 2, oldest_due_age_seconds: 0.0 };
    assert_eq!(counts, wanted);
    assert_eq!(gauges(&db.pool, "htm.tag").await.unwrap().due, 15);
}
