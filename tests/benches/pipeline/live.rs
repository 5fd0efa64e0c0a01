//! Live work during a backfill.

use std::time::{Duration, Instant};

use htm_core::worker::queues;
use htm_core::{Htm, Memory, Stage};
use htm_tests::measure::percentile_ms;
use htm_tests::{TestDatabase, wait_until};
use tokio_util::sync::CancellationToken;

use crate::handlers::*;
use crate::{Effort, Report, Target};

/// Live writes a second.
const RATE: u64 = 20;

/// Nodes that are there, and jobs to embed them anew: as `remember.sql` makes them, but of low priority.
const BACKFILL: &str = "with node as (
        insert into htm.nodes (namespace, robot_id, content, content_hash, token_count, token_encoding)
        select 'default', 1, c, sha256(c::bytea), 10, 'estimate'
          from (select 'old memory number ' || n as c from generate_series(1, $1) n) it returning id)
    insert into apalis.jobs (id, job_type, job, status, attempts, max_attempts, run_at, priority, metadata, idempotency_key)
    select apalis.generate_ulid(), 'htm.embed',
           convert_to(json_build_object('v', 1, 'node', id, 'revision', 1)::text, 'UTF8'), 'Pending', 0, 25, now(), -10,
           hstore(array['namespace', 'default', 'node', id::text, 'revision', '1']), id || '/1/1/fake/bag-of-words'
      from node";

pub(crate) async fn measure(report: &Report, effort: Effort) {
    let two_calls = 2.0 * LATENCY.as_secs_f64() * 1_000.0;
    for concurrency in [1, 2] {
        let figures = effort.medians(async || backfill(effort, concurrency).await).await;
        let [p50, p99, backlog, left, with, without] = figures;
        let what = |what: &str| format!("backfill, {concurrency} calls of 50 ms at once: {what}");
        report.ratio(&what("live p50 ÷ 2 calls"), p50, two_calls, "ms", Target::Shown);
        report.ratio(&what("live p99 ÷ 2 calls"), p99, two_calls, "ms", Target::AtMost(1.0));
        report.ratio(&what("writes, with it ÷ without"), with, without, "a s", Target::AtLeast(0.9));
        report.ratio(&what("jobs left ÷ at first"), left, backlog, "jobs", Target::Shown);
    }
}

/// Live p50 and p99 in milliseconds from remember's return to done; the backfill's jobs at first and at the end;
/// writes a second with it and without.
async fn backfill(effort: Effort, concurrency: usize) -> [f64; 6] {
    let db = TestDatabase::new().await;
    let start = async |stop: &CancellationToken| {
        let (handler, seen) = Watched::new(&db.pool, LATENCY).await;
        let run = htm_worker::run(db.pool.clone(), handler, options(concurrency, false), stop.clone());
        (tokio::spawn(run), seen)
    };
    let htm = writer(&db.pool);
    // The same worker with and without: only the backfill is between them.
    let stop = CancellationToken::new();
    let (worker, _) = start(&stop).await;
    htm.remember(Memory::new("the robot's first memory")).await.expect("written");
    let without = writes(&htm, effort).await;
    wait_until(|| async { queues::is_drained(&db.pool, Stage::Embed.queue()).await.expect("it answers") })
        .await;
    stop.cancel();
    worker.await.expect("it does not panic").expect("a clean stop");
    // It is not to end while it is measured.
    let per_second = (BATCH * concurrency) as u64 * 1_000 / LATENCY.as_millis() as u64;
    let backlog = (per_second * (effort.live_s + effort.live_s / 4 + 1)).max(20_000) as i64;
    sqlx::query(BACKFILL).bind(backlog).execute(&db.pool).await.expect("written");
    settle(&db).await;
    let stop = CancellationToken::new();
    let (worker, seen) = start(&stop).await;
    let begun = "select count(*) from apalis.jobs where job_type = 'htm.embed' and priority = -10 and status = 'Done'";
    wait_until(|| async { db.count(begun).await > 0 }).await;

    let mut written = Vec::new();
    let mut ticks = tokio::time::interval(Duration::from_millis(1_000 / RATE));
    for number in 0..RATE * effort.live_s {
        ticks.tick().await;
        // Not in step with the calls, whose time is a multiple of this one.
        tokio::time::sleep(Duration::from_millis(number * 7 % 50)).await;
        let node = htm.remember(Memory::new(format!("live memory {number}"))).await.expect("written").node;
        written.push((node, Instant::now()));
    }
    let last = written.last().expect("some were written").0;
    let is_done =
        || seen.lock().expect("no panic holds it").get(&last).is_some_and(|seen| seen.done.is_some());
    wait_until(|| async { is_done() }).await;
    let with = writes(&htm, effort).await;
    let left = db.count("select count(*) from apalis.jobs where status = 'Pending' and priority = -10").await;
    stop.cancel();
    worker.await.expect("it does not panic").expect("a clean stop");
    let seen = seen.lock().expect("no panic holds it");
    let times: Vec<Duration> = written
        .iter()
        .map(|(node, written)| seen[node].done.expect("done").saturating_duration_since(*written))
        .collect();
    [percentile_ms(&times, 0.5), percentile_ms(&times, 0.99), backlog as f64, left as f64, with, without]
}

/// Of one writer that does nothing else.
async fn writes(htm: &Htm, effort: Effort) -> f64 {
    let time = Duration::from_secs(effort.live_s) / 8;
    let started = Instant::now();
    let mut count = 0;
    let run = ulid::Ulid::new(); // another memory of the same text would not be a node
    while started.elapsed() < time {
        htm.remember(Memory::new(format!("one of many, number {count} of {run}"))).await.expect("written");
        count += 1;
    }
    f64::from(count) / started.elapsed().as_secs_f64()
}
