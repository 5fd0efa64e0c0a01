//! Which jobs a claim takes, in which order, and what it reads for that.

use std::time::Duration;

use htm_core::worker::claims::{Claims, Wanted};
use htm_core::worker::jobs::{self, RescueWait};
use htm_core::worker::{priorities, workers};
use htm_core::{Memory, NodeId, Stage};
use htm_tests::TestDatabase;
use sqlx::postgres::PgPoolOptions;

use crate::register;

const QUEUE: &str = "htm.embed";
const MODEL: &str = "fake/scripted";

/// Jobs of no node, spread over the priorities; `run_at` is SQL of their number `g`.
async fn enqueue(db: &TestDatabase, count: i32, run_at: &str) {
    let sql = format!(
        "insert into apalis.jobs (id, job_type, job, status, max_attempts, run_at, priority, metadata)
         select 'job ' || g, 'htm.embed', '', 'Pending', 25, {run_at}, ($1::int[])[1 + g % 4], hstore('node', g::text)
           from generate_series(1, $2) g",
    );
    sqlx::query(sqlx::AssertSqlSafe(sql)).bind(priorities::ALL).bind(count).execute(&db.pool).await.unwrap();
    sqlx::raw_sql("vacuum analyze apalis.jobs").execute(&db.pool).await.unwrap();
}

async fn remember(db: &TestDatabase, namespace: &str, count: usize) -> Vec<NodeId> {
    let memories: Vec<Memory> = (0..count)
        .map(|n| Memory { namespace: Some(namespace.into()), ..Memory::new(format!("{namespace} {n}")) })
        .collect();
    let receipts = db.htm().remember_many(&memories).await.unwrap();
    receipts.into_iter().map(|receipt| receipt.unwrap().node).collect()
}

/// The namespaces of the next jobs, in the order in which they are claimed, as `a*3 b`.
async fn claimed_in_order(db: &TestDatabase, count: usize) -> String {
    let mut order: Vec<(String, usize)> = Vec::new();
    for _ in 0..count {
        let (_, jobs) = jobs::claim(&db.pool, QUEUE, MODEL, "worker", 1).await.unwrap().unwrap();
        let namespace: String =
            sqlx::query_scalar("select metadata -> 'namespace' from apalis.jobs where id = $1")
                .bind(&jobs[0].id)
                .fetch_one(&db.pool)
                .await
                .unwrap();
        match order.last_mut().filter(|(last, _)| *last == namespace) {
            Some((_, times)) => *times += 1,
            None => order.push((namespace, 1)),
        }
    }
    order.into_iter().map(|(name, times)| format!("{name}*{times}")).collect::<Vec<_>>().join(" ")
}

#[tokio::test]
async fn an_import_holds_up_nobody_else() {
    let db = TestDatabase::new().await;
    workers::register(&db.pool, QUEUE, "worker", "test", 30_000).await.unwrap();
    remember(&db, "import", 1_200).await;
    // Written later than all of these.
    remember(&db, "single", 1).await;
    remember(&db, "conversation", 20).await;
    assert_eq!(claimed_in_order(&db, 25).await, "single*1 conversation*20 import*4");
}

#[tokio::test]
async fn a_small_import_does_not_wait_for_the_end_of_a_large_one() {
    let db = TestDatabase::new().await;
    workers::register(&db.pool, QUEUE, "worker", "test", 30_000).await.unwrap();
    for part in ["large", "small"] {
        let open = if part == "large" { 12_000 } else { 100 };
        sqlx::query(
            "insert into apalis.jobs (id, job_type, job, status, max_attempts, run_at, metadata)
             select $1 || g, 'htm.tag', '', 'Pending', 25, now(), hstore('namespace', $1) from generate_series(1, $2) g",
        )
        .bind(part)
        .bind(open)
        .execute(&db.pool)
        .await
        .unwrap();
        remember(&db, part, 1_000).await;
    }
    assert_eq!(claimed_in_order(&db, 10).await, "small*10");
}

/// The claim, with numbers for its parameters' names.
pub(crate) fn statement() -> String {
    let names = ["queue", "worker", "limit", "model", "priorities", "since", "with_suspects"];
    let claim = include_str!("../../../crates/htm-core/src/store/sql/claim_jobs.sql").to_owned();
    let number = |claim: String, (at, name): (usize, &str)| {
        claim.replace(&format!(":{name}"), &format!("${}", at + 1))
    };
    names.into_iter().enumerate().fold(claim, number)
}

#[tokio::test]
async fn an_idle_claim_reads_a_few_pages_however_many_jobs_wait() {
    let db = TestDatabase::new().await;
    enqueue(&db, 40_000, "now() + interval '1 day'").await;
    let claim = statement();
    let explain = format!(
        "prepare claim (text, text, int, text, int[], timestamptz[], boolean) as {claim};
         explain (analyze, buffers, format json) execute claim
            ('htm.embed', 'nobody', 64, 'fake/scripted', '{{0,-1,-2,-10}}', '{{null,null,null,null}}', true)"
    );
    let rows = sqlx::raw_sql(sqlx::AssertSqlSafe(explain)).fetch_all(&db.pool).await.unwrap();
    let plan: serde_json::Value = sqlx::Row::get(&rows[0], 0);
    let pages = plan[0]["Plan"]["Shared Hit Blocks"].as_i64().unwrap()
        + plan[0]["Plan"]["Shared Read Blocks"].as_i64().unwrap();
    assert!(pages < 60, "{pages} pages: {plan:#}");
}

#[tokio::test]
async fn claims_do_not_walk_over_what_was_claimed_while_a_snapshot_keeps_it() {
    const JOBS: usize = 6_000;
    const BATCH: usize = 200;
    let db = TestDatabase::new().await;
    workers::register(&db.pool, QUEUE, "worker", "test", 30_000).await.unwrap();
    // A second apart: one import follows the other.
    enqueue(&db, JOBS as i32, "now() - interval '1 day' + g * interval '1 second'").await;
    let mut reader = db.pool.begin().await.unwrap();
    sqlx::raw_sql("set transaction isolation level repeatable read; select 1")
        .execute(&mut *reader)
        .await
        .unwrap();
    let own = PgPoolOptions::new().max_connections(1).connect_with(db.options()).await.unwrap();
    let mut claims = Claims::new(QUEUE, Some(MODEL), "worker");
    let mut claimed = 0;
    while let Some((_, jobs)) = claims.next(&own, BATCH, Wanted::Any).await.unwrap() {
        claimed += jobs.len();
        sqlx::raw_sql(
            "update apalis.jobs set status = 'Done', lock_by = null, lock_at = null, done_at = now()
                        where status = 'Running'",
        )
        .execute(&db.pool)
        .await
        .unwrap();
    }
    assert_eq!(claimed, JOBS, "each once");
    sqlx::raw_sql("select pg_stat_force_next_flush()").execute(&own).await.unwrap();
    own.close().await;
    let read = db
        .count("select idx_tup_read from pg_stat_user_indexes where indexrelname = 'idx_apalis_jobs_fetch_partial'")
        .await;
    // From the start each time, it would be 90,000.
    assert!((JOBS as i64..JOBS as i64 * 5).contains(&read), "{read} index entries for {JOBS} jobs");
    reader.rollback().await.unwrap();
}

#[tokio::test]
async fn what_is_given_back_before_the_remembered_place_is_found_soon() {
    let db = TestDatabase::new().await;
    workers::register(&db.pool, QUEUE, "worker", "test", 30_000).await.unwrap();
    enqueue(&db, 8, "now() - interval '1 day' + g * interval '1 hour'").await;
    let mut claims = Claims::new(QUEUE, Some(MODEL), "worker");
    for _ in 0..2 {
        let mut claimed = 0;
        while claimed < 8 {
            if let Some((_, jobs)) = claims.next(&db.pool, 8, Wanted::Any).await.unwrap() {
                claimed += jobs.len();
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert_eq!(jobs::release_unheld(&db.pool, "worker", &[]).await.unwrap(), 8);
    }
}

/// The jobs of a lost worker are claimed by the eighth of a batch, then alone. Only one that was held alone is a dead letter.
#[tokio::test]
async fn what_a_lost_worker_held_comes_back_in_ever_smaller_batches() {
    let db = TestDatabase::new().await;
    register(&db).await;
    let mut settings = db.htm().settings().clone();
    settings.max_attempts = 2;
    let htm = htm_core::Htm::with_pool(db.pool.clone(), settings, None);
    let memories: Vec<Memory> = (0..40).map(|n| Memory::new(format!("memory {n}"))).collect();
    htm.remember_many(&memories).await.unwrap();
    let mut sizes = Vec::new();
    for loss in 0..4 {
        let worker = format!("lost-{loss}");
        workers::register(&db.pool, QUEUE, &worker, "test", 1_000).await.unwrap();
        let (_, jobs) = jobs::claim(&db.pool, QUEUE, MODEL, &worker, 32).await.unwrap().unwrap();
        assert!(jobs.iter().all(|job| job.suspect == (loss > 0)), "suspects are claimed by themselves");
        sizes.push(jobs.len());
        sqlx::raw_sql(
            "update apalis.workers set last_seen = now() - interval '1 hour'; delete from apalis.jobs
                        where status = 'Pending' and not metadata ? 'losses'",
        )
        .execute(&db.pool)
        .await
        .unwrap();
        let lost = workers::unseen(&db.pool).await.unwrap();
        assert_eq!(jobs::rescue(&db.pool, &lost, crate::AT_ONCE).await.unwrap(), jobs.len());
        // Those that were lost more often first, so that this test gets at them.
        sqlx::raw_sql(
            "update apalis.jobs set run_at = now() - (metadata -> 'losses')::int * interval '1 hour'
                        where status = 'Pending'",
        )
        .execute(&db.pool)
        .await
        .unwrap();
    }
    assert_eq!(sizes, [32, 4, 1, 1]);
    let dead = "select count(*) from apalis.jobs where job_type = 'htm.embed' and status = 'Killed'";
    assert_eq!(
        db.count(dead).await,
        2,
        "each of those that were held alone when their attempts were used up"
    );
    assert_eq!(
        db.count("select count(*) from apalis.jobs where job_type = 'htm.embed' and status = 'Pending'")
            .await,
        30
    );
}

#[tokio::test]
async fn a_suspect_waits_after_the_loss_and_is_none_after_a_failure_that_it_survived() {
    let db = TestDatabase::new().await;
    register(&db).await;
    db.htm().remember(Memory::new("innocent")).await.unwrap();
    workers::register(&db.pool, QUEUE, "lost", "test", 1_000).await.unwrap();
    jobs::claim(&db.pool, QUEUE, MODEL, "lost", 1).await.unwrap().unwrap();
    sqlx::raw_sql("update apalis.workers set last_seen = now() - interval '1 hour'")
        .execute(&db.pool)
        .await
        .unwrap();
    let hour = Duration::from_secs(3_600);
    let lost = workers::unseen(&db.pool).await.unwrap();
    assert_eq!(jobs::rescue(&db.pool, &lost, RescueWait { base: hour, cap: 24 * hour }).await.unwrap(), 1);
    let waits = "select count(*) from apalis.jobs where job_type = 'htm.embed'
                  and run_at between now() and now() + interval '1 hour'";
    assert_eq!(db.count(waits).await, 1);
    sqlx::raw_sql("update apalis.jobs set run_at = now() - interval '1 hour'")
        .execute(&db.pool)
        .await
        .unwrap();
    workers::register(&db.pool, QUEUE, "other", "test", 30_000).await.unwrap();
    let mut claims = Claims::new(QUEUE, Some(MODEL), "other");
    assert!(claims.next(&db.pool, 1, Wanted::Live).await.unwrap().is_none(), "never beside others");
    db.htm().remember(Memory::new("newer")).await.unwrap();
    let (_, beside) = claims.next(&db.pool, 1, Wanted::Unsuspected).await.unwrap().unwrap();
    assert!(!beside[0].suspect, "never two suspects beside each other");
    let (lease, jobs) = claims.next(&db.pool, 1, Wanted::Any).await.unwrap().unwrap();
    assert!(jobs[0].suspect, "it is found at once, although it was due before the newer one");
    let verdict = jobs::Verdict::Retry { delay_ms: 0 };
    let failed = [jobs::Failed { job: jobs[0].id.clone(), reason: "a test".into(), verdict }];
    jobs::fail(&db.pool, &lease, &failed, hour).await.unwrap();
    assert_eq!(db.count("select count(*) from apalis.jobs where metadata ? 'losses'").await, 0);
}

#[tokio::test]
async fn a_ping_wakes_the_workers_of_its_queue_alone() {
    let db = TestDatabase::new().await;
    register(&db).await;
    let mut listener = sqlx::postgres::PgListener::connect_with(&db.pool).await.unwrap();
    listener.listen_all(["htm.embed", "htm.tag"]).await.unwrap();
    jobs::ping_queue(&db.pool, Stage::Tag.queue()).await;
    assert_eq!(listener.recv().await.unwrap().channel(), "htm.tag");
    // A write is for all of them.
    db.htm().remember(Memory::new("for both")).await.unwrap();
    let mut channels = [listener.recv().await.unwrap(), listener.recv().await.unwrap()]
        .map(|ping| ping.channel().to_owned());
    channels.sort();
    assert_eq!(channels, ["htm.embed", "htm.tag"]);
}

#[tokio::test]
async fn an_import_does_not_read_all_dead_letters_of_its_namespace() {
    let db = TestDatabase::new().await;
    for (namespace, dead) in [("few", 1_000), ("many", 100_000)] {
        sqlx::query(
            "insert into apalis.jobs (id, job_type, job, status, attempts, max_attempts, run_at, done_at, priority, metadata)
             select concat_ws(' ', $1::text, g), 'htm.tag', '', 'Killed', 1, 1, now(), now(), 0,
                    hstore(array['namespace', $1::text, 'node', g::text, 'revision', '1'])
               from generate_series(1000001, 1000000 + $2::int) g",
        )
        .bind(namespace)
        .bind(dead)
        .execute(&db.pool)
        .await
        .unwrap();
    }
    for (namespace, priority) in [("few", priorities::LIVE), ("many", priorities::FLOOD)] {
        remember(&db, namespace, 60).await;
        let found: Vec<i32> = sqlx::query_scalar(
            "select distinct priority from apalis.jobs where status = 'Pending' and metadata -> 'namespace' = $1",
        )
        .bind(namespace)
        .fetch_all(&db.pool)
        .await
        .unwrap();
        assert_eq!(found, [priority], "{namespace}");
    }
}
