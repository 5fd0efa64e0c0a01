//! The governor: whose turn it is at a provider, and what a budget is spent for.

use std::sync::atomic::Ordering;
use std::time::Duration;

use htm_core::job::JobState;
use htm_core::providers::LimitChanges;
use htm_core::worker::claims::{Claims, Wanted};
use htm_core::worker::governor::{self, Answer, Breaker, Call, CallFailure, FailureKind, Leave, Spent, Turn};
use htm_core::worker::jobs::{self, Failed, Verdict};
use htm_core::worker::priorities::LIVE;
use htm_core::{FieldChange, Memory, Stage};
use htm_tests::{TestDatabase, wait_until, worker_options};
use tokio_util::sync::CancellationToken;

use super::{Behaviour, Scripted};

const MODEL: &str = "fake/scripted";
const BREAKER: Breaker = Breaker { failures: 5, open: Duration::from_secs(1), cap: Duration::from_secs(60) };

async fn limit(db: &TestDatabase, changes: LimitChanges) {
    db.htm().providers().unwrap().set_limits(MODEL, changes).await.unwrap();
}

async fn one_at_a_time(db: &TestDatabase) {
    limit(db, LimitChanges { concurrent_calls: FieldChange::Set(1), ..LimitChanges::default() }).await;
}

async fn ask(db: &TestDatabase, tokens: u32, priority: i32, turn: Turn) -> Answer {
    let deadline = Duration::from_secs(3_600);
    let call = Call { model: MODEL, worker: "test", tokens, deadline, priority };
    governor::acquire(&db.pool, &call, turn).await.unwrap()
}

/// The place in line of who was denied, and for how long it is to wait.
#[track_caller]
fn denied(answer: Answer) -> (Turn, Duration) {
    let Leave::Wait { wait, turn, .. } = answer.leave else { panic!("{answer:?}") };
    (turn, wait)
}

async fn end(db: &TestDatabase, answer: Answer) {
    let Leave::Granted(grant) = answer.leave else { panic!("{answer:?}") };
    governor::finish(&db.pool, MODEL, grant, None, BREAKER).await.unwrap();
}

/// As if so much time had passed.
async fn pass(db: &TestDatabase, seconds: i32) {
    sqlx::query("update htm.providers set levels_at = levels_at - $1 * interval '1 second'")
        .bind(seconds)
        .execute(&db.pool)
        .await
        .unwrap();
}

#[tokio::test]
async fn a_large_call_gets_its_turn_beside_small_ones() {
    let db = TestDatabase::new().await;
    // A burst of 10,000, then 833 a second.
    limit(&db, LimitChanges { tokens_per_minute: FieldChange::Set(60_000), ..Default::default() }).await;
    let first = ask(&db, 10_000, LIVE, Turn::New).await;
    assert_eq!(first.burst, Some(10_000), "it says how large a call should be");
    end(&db, first).await;
    // One text that is larger than the burst: it goes when the bucket is full.
    let (mut large, _) = denied(ask(&db, 12_000, LIVE, Turn::New).await);
    let mut small = Turn::New;
    for _ in 0..5 {
        pass(&db, 2).await;
        (small, _) = denied(ask(&db, 1_000, LIVE, small).await);
        (large, _) = denied(ask(&db, 12_000, LIVE, large).await);
    }
    pass(&db, 3).await;
    (small, _) = denied(ask(&db, 1_000, LIVE, small).await);
    end(&db, ask(&db, 12_000, LIVE, large).await).await;
    let (small, wait) = denied(ask(&db, 1_000, LIVE, small).await);
    assert!(wait > Duration::from_secs(3), "what went beyond the burst is a debt: {wait:?}");
    pass(&db, 4).await;
    end(&db, ask(&db, 1_000, LIVE, small).await).await;
}

#[tokio::test]
async fn calls_have_no_more_tokens_than_the_burst() {
    let db = TestDatabase::new().await;
    let texts: Vec<Memory> = (0..80).map(|n| Memory::new(format!("a text of some words {n}"))).collect();
    db.htm().remember_many(&texts).await.unwrap();
    let tokens = db.count("select max(token_count)::bigint from htm.nodes").await as i32;
    // A burst of twenty texts.
    let limits = LimitChanges { tokens_per_minute: FieldChange::Set(6 * 20 * tokens), ..Default::default() };
    limit(&db, limits).await;
    let handler = Scripted::new(&db, Behaviour::Succeed).await;
    let (calls, stop) = (handler.calls.clone(), CancellationToken::new());
    let options = htm_worker::Options { batch: 40, concurrency: 1, ..worker_options(false) };
    let worker = tokio::spawn(htm_worker::run(db.pool.clone(), handler, options, stop.clone()));
    wait_until(|| async {
        pass(&db, 60).await;
        db.count("select count(*) from apalis.jobs where job_type = 'htm.embed' and status = 'Done'").await
            == 80
    })
    .await;
    stop.cancel();
    worker.await.unwrap().unwrap();
    assert_eq!(calls.load(Ordering::SeqCst), 1 + 2, "the first call could not know");
}

#[tokio::test]
async fn who_can_be_served_beside_those_ahead_is_served() {
    let db = TestDatabase::new().await;
    limit(&db, LimitChanges { tokens_per_minute: FieldChange::Set(60_000), ..Default::default() }).await;
    end(&db, ask(&db, 10_000, LIVE, Turn::New).await).await;
    let (_, _) = denied(ask(&db, 1_000, LIVE, Turn::New).await);
    pass(&db, 4).await;
    // The first has not asked again yet; its tokens are left to it.
    end(&db, ask(&db, 2_000, LIVE, Turn::New).await).await;
    denied(ask(&db, 1_000, LIVE, Turn::Once).await);
}

#[tokio::test]
async fn live_calls_come_before_those_of_a_backfill_that_wait() {
    let db = TestDatabase::new().await;
    one_at_a_time(&db).await;
    let running = ask(&db, 1, -10, Turn::New).await;
    let (first, _) = denied(ask(&db, 1, -10, Turn::New).await);
    let (second, _) = denied(ask(&db, 1, -10, Turn::New).await);
    let (live, _) = denied(ask(&db, 1, LIVE, Turn::New).await);
    end(&db, running).await;
    let (second, _) = denied(ask(&db, 1, -10, second).await);
    let (first, _) = denied(ask(&db, 1, -10, first).await);
    let running = ask(&db, 1, LIVE, live).await;
    end(&db, running).await;
    // Among equals, who came first.
    let (second, _) = denied(ask(&db, 1, -10, second).await);
    end(&db, ask(&db, 1, -10, first).await).await;
    end(&db, ask(&db, 1, -10, second).await).await;
    assert_eq!(db.count("select count(*) from htm.waiting_calls").await, 0);
}

#[tokio::test]
async fn nobody_waits_for_the_turn_of_who_is_gone() {
    let db = TestDatabase::new().await;
    one_at_a_time(&db).await;
    let running = ask(&db, 1, LIVE, Turn::New).await;
    denied(ask(&db, 1, LIVE, Turn::New).await);
    let (next, _) = denied(ask(&db, 1, LIVE, Turn::New).await);
    end(&db, running).await;
    let (next, _) = denied(ask(&db, 1, LIVE, next).await);
    sqlx::query(
        "update htm.waiting_calls set expires_at = now() where id = (select min(id) from htm.waiting_calls)",
    )
    .execute(&db.pool)
    .await
    .unwrap();
    end(&db, ask(&db, 1, LIVE, next).await).await;
    assert_eq!(db.count("select count(*) from htm.waiting_calls").await, 0);
}

#[tokio::test]
async fn who_is_denied_locks_nothing_and_the_further_behind_the_longer_it_waits() {
    let db = TestDatabase::new().await;
    one_at_a_time(&db).await;
    let running = ask(&db, 1, LIVE, Turn::New).await;
    let mut others = db.pool.begin().await.unwrap();
    sqlx::query("select from htm.providers for update").execute(&mut *others).await.unwrap();
    let all = async {
        let mut waits = Vec::new();
        for _ in 0..128 {
            waits.push(denied(ask(&db, 1, LIVE, Turn::New).await));
        }
        waits
    };
    let waits = tokio::time::timeout(Duration::from_secs(30), all).await.expect("nobody waits for the row");
    assert!(waits[0].1 <= Duration::from_millis(100), "{waits:?}");
    assert!(waits[127].1 >= Duration::from_secs(3), "{waits:?}");
    let looks_a_second: f64 = waits.iter().map(|(_, wait)| 1.0 / wait.as_secs_f64()).sum();
    assert!(looks_a_second < 200.0, "{looks_a_second}");
    // Nor is anything written by who looks again.
    let before: Vec<(String,)> = writes(&db).await;
    for (turn, _) in &waits {
        denied(ask(&db, 1, LIVE, *turn).await);
    }
    assert_eq!(writes(&db).await, before);
    others.rollback().await.unwrap();
    end(&db, running).await;
}

async fn writes(db: &TestDatabase) -> Vec<(String,)> {
    sqlx::query_as("select xmin::text from htm.waiting_calls order by id").fetch_all(&db.pool).await.unwrap()
}

#[tokio::test]
async fn a_job_that_was_refused_before_midnight_and_parked_after_it_waits_for_that_midnight() {
    let db = TestDatabase::new().await;
    db.htm().remember(Memory::new("late")).await.unwrap();
    db.htm().providers().unwrap().set_budget("default", Some(0)).await.unwrap();
    let refused = governor::spend(&db.pool, &[("default", 1), ("elsewhere", 1)]).await.unwrap();
    assert_eq!(refused[1], Spent::Freely);
    let tomorrow: chrono::DateTime<chrono::Utc> = sqlx::query_scalar(
        "select (date_trunc('day', now() at time zone 'utc') + interval '1 day') at time zone 'utc'",
    )
    .fetch_one(&db.pool)
    .await
    .unwrap();
    assert_eq!(refused[0], Spent::TooMuch { until: tomorrow });
    let (lease, claimed) = super::claim_as(&db, "worker").await;
    let midnight = tomorrow - chrono::Duration::days(1);
    let failed = Failed {
        job: claimed[0].id.clone(),
        reason: "budget_spent".into(),
        verdict: Verdict::OverBudget { until: midnight, tokens: 1 },
    };
    jobs::fail(&db.pool, &lease, &[failed], Duration::MAX).await.unwrap();
    let mut claims = Claims::new(Stage::Embed.queue(), Some(MODEL), "worker");
    let again = claims.next(&db.pool, 1, Wanted::Any).await.unwrap();
    assert_eq!(again.expect("the new day has begun").1[0].attempt, 1);
}

#[tokio::test]
async fn a_job_is_not_parked_for_a_budget_that_was_raised_since_the_refusal() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let providers = htm.providers().unwrap();
    for raised in [Some(20), None] {
        providers.set_budget("default", Some(10)).await.unwrap();
        sqlx::query("update htm.budgets set tokens_used = 10").execute(&db.pool).await.unwrap();
        htm.remember(Memory::new(format!("raised to {raised:?}"))).await.unwrap();
        let (lease, claimed) = super::claim_as(&db, "worker").await;
        let spent = governor::spend(&db.pool, &[("default", 5)]).await.unwrap();
        let Spent::TooMuch { until } = spent[0] else { panic!("there is no room") };
        // Before the refusal is written, the raise finds no parked job.
        assert_eq!(providers.set_budget("default", raised).await.unwrap(), 0);
        let parked = Failed {
            job: claimed[0].id.clone(),
            reason: "budget_spent".into(),
            verdict: Verdict::OverBudget { until, tokens: 5 },
        };
        let ended = jobs::fail(&db.pool, &lease, &[parked], Duration::MAX).await.unwrap();
        assert_eq!(ended[&claimed[0].id], JobState::Due);
        let (_, again) = super::claim_as(&db, "worker").await;
        assert_eq!((again[0].id.as_str(), again[0].attempt), (claimed[0].id.as_str(), 1), "{raised:?}");
        sqlx::query("delete from apalis.jobs").execute(&db.pool).await.unwrap();
    }
}

#[tokio::test]
async fn what_is_refunded_goes_to_the_day_that_it_was_spent_from() {
    let db = TestDatabase::new().await;
    db.htm().providers().unwrap().set_budget("default", Some(100)).await.unwrap();
    let spend = async |tokens| governor::spend(&db.pool, &[("default", tokens)]).await.unwrap()[0];
    let used = async || db.count("select tokens_used from htm.budgets").await;
    let Spent::On(today) = spend(30).await else { panic!("there is a budget") };
    governor::refund(&db.pool, &[("default", today, 10), ("elsewhere", today, 10)]).await.unwrap();
    assert_eq!(used().await, 20);
    // Midnight comes while the call is under way, and another spends of the new day's budget.
    let yesterday = today - chrono::Duration::days(1);
    sqlx::query("update htm.budgets set day = $1").bind(yesterday).execute(&db.pool).await.unwrap();
    assert_eq!(spend(70).await, Spent::On(today));
    governor::refund(&db.pool, &[("default", yesterday, 20)]).await.unwrap();
    assert_eq!(used().await, 70);
    assert!(matches!(spend(50).await, Spent::TooMuch { .. }), "the new day has no more than its own");
}

#[tokio::test]
async fn while_a_trial_is_under_way_nobody_waits_for_its_deadline() {
    let db = TestDatabase::new().await;
    one_at_a_time(&db).await;
    let failure = CallFailure { reason: "refused".into(), kind: FailureKind::Permanent };
    let Leave::Granted(grant) = ask(&db, 1, LIVE, Turn::Once).await.leave else { panic!("not granted") };
    governor::finish(&db.pool, MODEL, grant, Some(&failure), BREAKER).await.unwrap();
    denied(ask(&db, 1, LIVE, Turn::Once).await);
    sqlx::query("update htm.providers set retry_at = now()").execute(&db.pool).await.unwrap();
    let trial = ask(&db, 1, LIVE, Turn::Once).await;
    let (_, wait) = denied(ask(&db, 1, LIVE, Turn::Once).await);
    assert!(wait <= Duration::from_secs(1), "the trial's deadline is an hour: {wait:?}");
    end(&db, trial).await;
    end(&db, ask(&db, 1, LIVE, Turn::Once).await).await;
}

/// Ten calls in flight meet one limit.
#[tokio::test]
async fn calls_that_are_limited_together_count_once() {
    let db = TestDatabase::new().await;
    let limited = |retry_after: Option<u64>| {
        let kind = FailureKind::Limited {
            retry_after: retry_after.map(Duration::from_secs),
            wait: Duration::from_secs(10),
        };
        CallFailure { reason: "provider_rate_limited".into(), kind }
    };
    let held = async || {
        db.count("select ceil(extract(epoch from resume_at - clock_timestamp()))::bigint from htm.providers")
            .await
    };
    // Without a hold, with one that is over, and with one that is over again.
    for (wave, expected) in [10, 20, 40].into_iter().enumerate() {
        let mut grants = Vec::new();
        for _ in 0..10 {
            let Leave::Granted(grant) = ask(&db, 1, LIVE, Turn::New).await.leave else { panic!("held") };
            grants.push(grant);
        }
        for grant in grants {
            governor::finish(&db.pool, MODEL, grant, Some(&limited(None)), BREAKER).await.unwrap();
        }
        let held = held().await;
        assert!((expected - 9..=expected).contains(&held), "wave {wave}: {held} s");
        sqlx::query("update htm.providers set resume_at = now() - interval '1 second'")
            .execute(&db.pool)
            .await
            .unwrap();
    }
    // What a provider says counts all the same.
    let mut grants = Vec::new();
    for _ in 0..2 {
        let Leave::Granted(grant) = ask(&db, 1, LIVE, Turn::New).await.leave else { panic!("held") };
        grants.push(grant);
    }
    for (grant, seconds) in grants.into_iter().zip([50, 600]) {
        governor::finish(&db.pool, MODEL, grant, Some(&limited(Some(seconds))), BREAKER).await.unwrap();
    }
    assert!((560..=600).contains(&held().await));
}

/// A call that began before the limit, and ends well after it.
#[tokio::test]
async fn a_success_in_flight_hides_no_limit() {
    let db = TestDatabase::new().await;
    super::register(&db).await;
    limit(&db, LimitChanges { concurrent_calls: FieldChange::Set(2), ..LimitChanges::default() }).await;
    let (limited, answered) = (ask(&db, 1, LIVE, Turn::New).await, ask(&db, 1, LIVE, Turn::New).await);
    let Leave::Granted(grant) = limited.leave else { panic!("not granted") };
    let kind =
        FailureKind::Limited { retry_after: Some(Duration::from_secs(600)), wait: Duration::from_secs(10) };
    let failure = CallFailure { reason: "provider_rate_limited".into(), kind };
    governor::finish(&db.pool, MODEL, grant, Some(&failure), BREAKER).await.unwrap();
    end(&db, answered).await;
    let queues = db.htm().jobs().unwrap().queues().await.unwrap();
    let queue = queues.iter().find(|queue| queue.model.as_deref() == Some(MODEL)).unwrap();
    assert_eq!(queue.held.as_deref(), Some("provider_rate_limited"));
    assert!(queue.held_until.is_some());
    // A successful call that begins after the limit's time ends the limit.
    sqlx::query("update htm.providers set resume_at = now()").execute(&db.pool).await.unwrap();
    end(&db, ask(&db, 1, LIVE, Turn::New).await).await;
    assert_eq!(db.count("select count(*) from htm.providers where reason is null and limits = 0").await, 1);
}
