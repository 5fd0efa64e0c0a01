//! A worker with nothing to do: how soon it begins when something comes, and what it costs until then.

use std::time::{Duration, Instant};

use htm_core::Memory;
use htm_tests::measure::percentile_ms;
use htm_tests::{Sandbox, TestDatabase, wait_until};
use nix::sys::signal::Signal;
use sqlx::postgres::PgListener;
use tokio_util::sync::CancellationToken;

use crate::handlers::*;
use crate::{Effort, Report, Target};

/// Longer than pings are held back after one another.
const REST: Duration = Duration::from_millis(70);

pub(crate) async fn measure(report: &Report, effort: Effort) {
    let [floor50, floor99] = effort.medians(async || notify(effort).await).await;
    let [begun50, begun99, done50, done99] = effort.medians(async || pickup(effort).await).await;
    let poll = options(1, false).poll.as_secs_f64() * 1_000.0;
    report.figure("LISTEN and NOTIFY, there and back, p50", floor50, "ms", Target::Shown);
    report.figure("LISTEN and NOTIFY, there and back, p99", floor99, "ms", Target::Shown);
    report.figure(
        "from remember's return to the call, worker idle, p50",
        begun50,
        "ms",
        Target::AtMost(20.0),
    );
    report.figure(
        "from remember's return to the call, worker idle, p99",
        begun99,
        "ms",
        Target::AtMost(poll + 50.0),
    );
    report.figure("  without LISTEN and NOTIFY, p50", begun50 - floor50, "ms", Target::Shown);
    report.figure("from remember's return to done, p50", done50, "ms", Target::Shown);
    report.figure("from remember's return to done, p99", done99, "ms", Target::Shown);
    let load = effort.median(async || load(effort).await).await;
    report.figure("transactions of one idle embed-worker", load, "a s", Target::AtMost(2.0));
}

/// p50 and p99 in milliseconds.
async fn notify(effort: Effort) -> [f64; 2] {
    let db = TestDatabase::new().await;
    let mut listener = PgListener::connect_with(&db.pool).await.expect("a connection");
    listener.listen("bench").await.expect("listening");
    let mut times = Vec::with_capacity(effort.singles);
    for _ in 0..effort.singles {
        tokio::time::sleep(REST).await;
        let started = Instant::now();
        sqlx::query("select pg_notify('bench', '')").execute(&db.pool).await.expect("sent");
        listener.recv().await.expect("received");
        times.push(started.elapsed());
    }
    [percentile_ms(&times, 0.5), percentile_ms(&times, 0.99)]
}

/// p50 and p99 in milliseconds, to the call and to the end.
async fn pickup(effort: Effort) -> [f64; 4] {
    let db = TestDatabase::new().await;
    let (handler, seen) = Watched::new(&db.pool, Duration::ZERO).await;
    let stop = CancellationToken::new();
    let worker = tokio::spawn(htm_worker::run(db.pool.clone(), handler, options(1, false), stop.clone()));
    let htm = writer(&db.pool);
    let (mut begun, mut done) = (Vec::new(), Vec::new());
    for number in 0..effort.singles + 5 {
        tokio::time::sleep(REST).await;
        let node = htm.remember(Memory::new(format!("memory number {number}"))).await.expect("written").node;
        let written = Instant::now();
        let ended = || {
            let seen = seen.lock().expect("no panic holds it").get(&node).copied()?;
            Some((seen.begun, seen.done?))
        };
        wait_until(async || ended().is_some()).await;
        let end = ended().expect("it has ended");
        // The first ones open connections and plan statements.
        if number >= 5 {
            begun.push(end.0.saturating_duration_since(written));
            done.push(end.1.saturating_duration_since(written));
        }
    }
    stop.cancel();
    worker.await.expect("it does not panic").expect("a clean stop");
    [
        percentile_ms(&begun, 0.5),
        percentile_ms(&begun, 0.99),
        percentile_ms(&done, 0.5),
        percentile_ms(&done, 0.99),
    ]
}

/// Transactions a second of a worker process, by what a longer run has more than a shorter one: neither its start and
/// stop count, nor what this process asks.
async fn load(effort: Effort) -> f64 {
    const SHORT: Duration = Duration::from_secs(3);
    let long = SHORT + Duration::from_secs(effort.idle_s);
    let (short, long) = tokio::join!(transactions(SHORT), transactions(long));
    (long - short) / effort.idle_s as f64
}

/// Of a worker process that has nothing to do for so long, from its start to its end.
async fn transactions(rest: Duration) -> f64 {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let mut worker = sandbox.start("embed-worker", &[]);
    tokio::time::sleep(rest).await;
    worker.signal(Signal::SIGTERM);
    assert!(worker.end().await.success());
    let mut committed = -1;
    // Its connections count when they have ended, which is a moment later.
    loop {
        tokio::time::sleep(Duration::from_millis(1_200)).await;
        let now = db
            .count(
                "select xact_commit + xact_rollback from pg_stat_database where datname = current_database()",
            )
            .await;
        // One or two of them are the last look.
        if now - committed <= 2 {
            return now as f64;
        }
        committed = now;
    }
}
