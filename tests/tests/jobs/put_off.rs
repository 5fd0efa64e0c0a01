//! Attempts that fail: who shares them, and how long a job may be put off.

use std::time::Duration;

use htm_core::job::JobState;
use htm_core::worker::jobs::{self, Failed, Verdict};
use htm_core::{Htm, Memory};
use htm_tests::{TestDatabase, wait_until, worker_options};
use tokio_util::sync::CancellationToken;

use super::{Behaviour, Scripted, claim_as, register};

#[tokio::test]
async fn a_text_that_makes_the_provider_fail_dies_alone() {
    let db = TestDatabase::new().await;
    let mut settings = db.htm().settings().clone();
    settings.max_attempts = 6;
    let htm = Htm::with_pool(db.pool.clone(), settings, None);
    let mut texts: Vec<Memory> = (0..31).map(|n| Memory::new(format!("text {n}"))).collect();
    texts.push(Memory::new("poison"));
    htm.remember_many(&texts).await.unwrap();
    let handler = Scripted::new(&db, Behaviour::FailOn("poison")).await;
    let stop = CancellationToken::new();
    let options = htm_worker::Options { batch: 32, concurrency: 1, ..worker_options(false) };
    let worker = tokio::spawn(htm_worker::run(db.pool.clone(), handler, options, stop.clone()));
    let open =
        "select count(*) from apalis.jobs where job_type = 'htm.embed' and status not in ('Done', 'Killed')";
    wait_until(|| async { db.count(open).await == 0 }).await;
    stop.cancel();
    worker.await.unwrap().unwrap();
    let dead: Vec<String> = sqlx::query_scalar(
        "select n.content from apalis.jobs j join htm.nodes n on n.id = (j.metadata -> 'node')::bigint
          where j.job_type = 'htm.embed' and j.status = 'Killed'",
    )
    .fetch_all(&db.pool)
    .await
    .unwrap();
    assert_eq!(dead, ["poison"]);
}

/// A job that was put off for a second, and was due for three hours before anybody claimed it.
#[tokio::test]
async fn a_wait_in_the_queue_costs_no_patience() {
    let db = TestDatabase::new().await;
    db.htm().remember(Memory::new("text")).await.unwrap();
    register(&db).await;
    let put_off = async || {
        let (lease, claimed) = claim_as(&db, "worker").await;
        let verdict = Verdict::Defer { delay_ms: 0 };
        let failed = Failed { job: claimed[0].id.clone(), reason: "provider_rate_limited".into(), verdict };
        let ended = jobs::fail(&db.pool, &lease, &[failed], Duration::from_secs(3_600)).await.unwrap();
        let parked = db.count("select count(*) from apalis.jobs where metadata -> 'parked' = 'age'").await;
        assert_eq!(ended.into_values().filter(|now| *now == JobState::Parked).count() as i64, parked);
        parked
    };
    let since = async |deferred: &str, due: &str| {
        let moved = "update apalis.jobs set run_at = now() - $2::interval,
                            metadata = metadata || hstore('deferred_since', (now() - $1::interval)::text)
                      where job_type = 'htm.embed'";
        sqlx::query(moved).bind(deferred).bind(due).execute(&db.pool).await.unwrap();
    };
    assert_eq!(put_off().await, 0);
    since("3 hours 1 second", "3 hours").await;
    assert_eq!(put_off().await, 0);
    let still = "select count(*) from apalis.jobs
                  where (metadata -> 'deferred_since')::timestamptz between now() - interval '1 minute' and now()";
    assert_eq!(db.count(still).await, 1);
    // A breaker is open for minutes.
    since("3 hours", "10 minutes").await;
    assert_eq!(put_off().await, 1, "it was refused all the time");
}
