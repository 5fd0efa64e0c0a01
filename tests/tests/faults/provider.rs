//! What goes wrong at the provider.

use std::time::Duration;

use htm_core::{Memory, Stage};
use htm_tests::{TestDatabase, wait_until};
use nix::sys::signal::Signal;
use serde_json::json;
use wiremock::ResponseTemplate;

use crate::stage::*;

#[tokio::test]
async fn promise_09_a_rate_limit_burns_no_attempt_and_the_batch_comes_back_whole() {
    let db = TestDatabase::new().await;
    let provider = Provider::new(|texts, before| match before {
        0 | 1 => refusal(429, "rate_limit_exceeded", "slow down").append_header("retry-after", "1"),
        _ => vectors(texts),
    })
    .await;
    let sandbox = provider.sandbox(&db.url());
    remember(&db.pool, "limited", 16).await;
    let mut worker = sandbox.start("embed-worker", &["--concurrency", "1"]);
    let waiting = "select count(*) from apalis.jobs where job_type = 'htm.embed' and status = 'Pending' and attempts = 0
                    and last_result ->> 'Err' like 'provider_rate_limited%'";
    wait_until(|| async { number(&db.pool, waiting).await == 16 }).await;
    // The wait is the database's, not the worker's: another one keeps it too.
    worker.signal(Signal::SIGKILL);
    worker.end().await;
    let _worker = sandbox.start("embed-worker", &["--concurrency", "1"]);
    until_done(&db.pool, Stage::Embed).await;
    let calls = provider.calls();
    for pair in calls.windows(2).take(2) {
        assert!(pair[1].at - pair[0].at >= Duration::from_millis(900), "Retry-After is kept");
    }
    assert!(calls.len() <= 2 + 6, "what failed together comes back together: {} calls", calls.len());
    assert_eq!(number(&db.pool, "select max(attempt)::bigint from htm.completions").await, 1);
    assert_complete(&sandbox, &db.pool, &[Stage::Embed]).await;
}

#[tokio::test]
async fn promise_09_what_is_put_off_for_too_long_is_parked_visibly() {
    let db = TestDatabase::new().await;
    let provider = Provider::new(|_, _| {
        refusal(429, "rate_limit_exceeded", "slow down").append_header("retry-after", "0")
    })
    .await;
    let sandbox = provider.sandbox(&db.url()).set("HTM_JOBS__PATIENCE_MS", "500");
    remember(&db.pool, "patient", 3).await;
    let worker = sandbox.start("embed-worker", &[]);
    let parked = "select count(*) from apalis.jobs where status = 'Pending' and metadata -> 'parked' = 'age'";
    wait_until(|| async { number(&db.pool, parked).await == 3 }).await;
    let calls = provider.calls().len();
    let list = sandbox.htm(&["jobs", "list", "--state", "parked"]).await;
    assert!(list.succeeds().contains("provider_rate_limited"), "{list:?}");
    assert_audited(&sandbox).await;
    // Parked jobs are not asked about again by themselves; a drain does not wait for them.
    drop(worker);
    sandbox.run("embed-worker", &["--drain"], b"").await.succeeds();
    assert_eq!(provider.calls().len(), calls);
    provider.becomes(|texts, _| vectors(texts));
    sandbox.htm(&["jobs", "retry", "--state", "parked"]).await.succeeds();
    sandbox.run("embed-worker", &["--drain"], b"").await.succeeds();
    assert_complete(&sandbox, &db.pool, &[Stage::Embed]).await;
}

#[tokio::test]
async fn promise_10_errors_end_as_what_they_are() {
    let db = TestDatabase::new().await;
    let provider = Provider::new(|texts, before| match before {
        0 => ResponseTemplate::new(500).set_body_string("out of memory"),
        1 => ResponseTemplate::new(200).set_body_string("<html>maintenance</html>"),
        2 => answer(vectors_of(&texts[1..])),
        3 => ResponseTemplate::new(503),
        4 => answer(vectors_of(texts).into_iter().map(|(_, vector)| (0, vector)).collect()),
        _ => {
            let mut shuffled = vectors_of(texts);
            shuffled.reverse();
            answer(shuffled)
        }
    })
    .await;
    let sandbox = provider.sandbox(&db.url());
    remember(&db.pool, "troubled", 8).await;
    sandbox.run("embed-worker", &["--drain", "--concurrency", "1"], b"").await.succeeds();
    assert!(provider.calls().len() >= 6);
    assert_complete(&sandbox, &db.pool, &[Stage::Embed]).await;

    let calm = TestDatabase::new().await;
    remember(&calm.pool, "troubled", 8).await;
    provider.becomes(|texts, _| vectors(texts));
    provider.sandbox(&calm.url()).run("embed-worker", &["--drain"], b"").await.succeeds();
    assert_eq!(outcome(&db.pool).await, outcome(&calm.pool).await);
}

#[tokio::test]
async fn promise_10_a_refused_key_stops_the_queue_and_not_the_jobs() {
    let db = TestDatabase::new().await;
    let provider = Provider::new(|_, _| refusal(401, "invalid_api_key", "Incorrect API key provided")).await;
    let sandbox = provider.sandbox(&db.url());
    remember(&db.pool, "locked out", 200).await;
    let _workers = [
        sandbox.start("embed-worker", &["--batch", "10"]),
        sandbox.start("embed-worker", &["--batch", "10"]),
    ];
    wait_until(|| async { provider.calls().len() >= 6 }).await;
    // At most the calls that were under way when the first one failed; then a trial of one job now and then.
    let texts: Vec<usize> = provider.calls().iter().map(|call| call.texts.len()).collect();
    assert!(texts.iter().skip(4).all(|count| *count == 1), "{texts:?}");
    assert_eq!(
        number(&db.pool, "select max(attempts)::bigint from apalis.jobs where status = 'Pending'").await,
        0
    );
    let state = sandbox.htm(&["providers"]).await;
    assert!(state.succeeds().contains("provider_unauthorized"), "{state:?}");
    let stats = sandbox.htm(&["jobs", "stats"]).await;
    assert!(stats.succeeds().contains("provider_unauthorized"), "{stats:?}");
    // The key is mended: a trial succeeds, and everything goes on by itself.
    provider.becomes(|texts, _| vectors(texts));
    until_done(&db.pool, Stage::Embed).await;
    let state = sandbox.htm(&["--json", "providers"]).await.json();
    assert_eq!(state[0]["breaker"], "closed", "{state}");
    assert_complete(&sandbox, &db.pool, &[Stage::Embed]).await;
}

#[tokio::test]
async fn promise_10_a_provider_that_refuses_every_text_stops_the_queue_and_not_the_jobs() {
    let db = TestDatabase::new().await;
    let provider = Provider::new(|_, _| refusal(400, "invalid_value", "at most 4 dimensions, not 8")).await;
    let sandbox = provider.sandbox(&db.url());
    remember(&db.pool, "harmless too", 200).await;
    let arguments = ["--batch", "10", "--concurrency", "1"];
    let _workers = [sandbox.start("embed-worker", &arguments), sandbox.start("embed-worker", &arguments)];
    let harmless = || provider.calls().iter().filter(|call| call.texts == ["Hello."]).count();
    wait_until(|| async { harmless() >= 6 }).await;
    // Each worker halves a batch until a text is alone; then there is a trial of one job now and then.
    let with_several = provider.calls().iter().filter(|call| call.texts.len() > 1).count();
    assert!(with_several < 15, "{with_several}");
    let attempts =
        "select max(attempts)::bigint from apalis.jobs where job_type = 'htm.embed' and status = 'Pending'";
    assert_eq!(number(&db.pool, attempts).await, 0);
    assert_eq!(depth(&db.pool, Stage::Embed).await.dead, 0);
    let state = sandbox.htm(&["--json", "providers"]).await.json();
    let reason = state[0]["reason"].as_str().unwrap();
    assert!(reason.starts_with("provider_refused_all: openai/mock: HTTP 400"), "{reason}");
    assert!(reason.contains("at most 4 dimensions, not 8"), "{reason}");
    assert_ne!(state[0]["breaker"], "closed", "{state}");
    wait_until(|| async {
        sandbox.htm(&["jobs", "stats"]).await.succeeds().contains("provider_refused_all")
    })
    .await;
    // The setting is mended: a trial succeeds, and everything goes on by itself.
    provider.becomes(|texts, _| vectors(texts));
    until_done(&db.pool, Stage::Embed).await;
    assert_eq!(depth(&db.pool, Stage::Embed).await.dead, 0);
    let state = sandbox.htm(&["--json", "providers"]).await.json();
    assert_eq!((&state[0]["breaker"], &state[0]["reason"]), (&json!("closed"), &json!(null)), "{state}");
    assert_complete(&sandbox, &db.pool, &[Stage::Embed]).await;
}

/// A long text that is refused is sent in halves: a call of several requests.
#[tokio::test]
async fn promise_10_a_refused_trial_closes_nothing() {
    let db = TestDatabase::new().await;
    let provider = Provider::new(|_, _| refusal(400, "invalid_value", "at most 4 dimensions, not 8")).await;
    let sandbox = provider.sandbox(&db.url());
    writer(&db.pool).remember(Memory::new("Some words to read. ".repeat(50))).await.unwrap();
    let _worker = sandbox.start("embed-worker", &[]);
    // Each wait is longer than the one before, unless the breaker was closed in between.
    let openings = "select coalesce(max(openings), 0)::bigint from htm.providers";
    wait_until(|| async { number(&db.pool, openings).await >= 4 }).await;
    assert!(provider.calls().len() > 4 * 3, "it was sent in halves: {:?}", provider.calls().len());
    provider.becomes(|texts, _| vectors(texts));
    until_done(&db.pool, Stage::Embed).await;
    assert_complete(&sandbox, &db.pool, &[Stage::Embed]).await;
}

/// A text that was taken a moment ago is no proof for ever.
#[tokio::test]
async fn promise_10_a_provider_that_begins_to_refuse_every_text_costs_a_few_jobs() {
    let db = TestDatabase::new().await;
    let provider = Provider::new(|texts, _| vectors(texts)).await;
    let sandbox = provider.sandbox(&db.url());
    let _worker = sandbox.start("embed-worker", &["--batch", "10", "--concurrency", "1"]);
    remember(&db.pool, "before", 5).await;
    until_done(&db.pool, Stage::Embed).await;
    provider.becomes(|_, _| refusal(400, "unsupported_parameter", "no such parameter"));
    remember(&db.pool, "after", 100).await;
    wait_until(|| async {
        let state = sandbox.htm(&["--json", "providers"]).await.json();
        state[0]["reason"].as_str().is_some_and(|reason| reason.starts_with("provider_refused_all"))
    })
    .await;
    // The provider's state is told before the last jobs end.
    let running = "select count(*) from apalis.jobs where job_type = 'htm.embed' and status = 'Running'";
    wait_until(|| async { number(&db.pool, running).await == 0 }).await;
    let dead = depth(&db.pool, Stage::Embed).await.dead;
    assert!(dead <= 4, "{dead}");
    provider.becomes(|texts, _| vectors(texts));
    until_done(&db.pool, Stage::Embed).await;
    assert_eq!(depth(&db.pool, Stage::Embed).await.dead, dead);
    sandbox.htm(&["jobs", "retry", "--all-dead"]).await.succeeds();
    until_done(&db.pool, Stage::Embed).await;
    assert_complete(&sandbox, &db.pool, &[Stage::Embed]).await;
}

#[tokio::test]
async fn promise_10_a_worker_that_does_not_start_leaves_its_reason() {
    let db = TestDatabase::new().await;
    let provider = Provider::new(|_, _| refusal(401, "invalid_api_key", "Incorrect API key provided")).await;
    // Without dimensions, it asks for them before anything else.
    let sandbox = provider.sandbox(&db.url()).set("HTM_EMBEDDING__DIMENSIONS", "0");
    for arguments in [&["htm", "up", "--drain"][..], &["embed-worker", "--drain"]] {
        sqlx::query("delete from htm.providers").execute(&db.pool).await.unwrap();
        let answer = sandbox.run(arguments[0], &arguments[1..], b"").await;
        assert!(answer.stderr.contains("provider_unauthorized"), "{answer:?}");
        let listed = sandbox.htm(&["--json", "providers"]).await.json();
        let reason = listed[0]["reason"].as_str().unwrap();
        assert!(reason.starts_with("a worker did not start: provider_unauthorized: "), "{reason}");
        assert_eq!((&listed[0]["model"], &listed[0]["breaker"]), (&json!("openai/mock"), &json!("closed")));
    }
    // Whoever looks may have a key that is right.
    provider.becomes(|texts, _| vectors(texts));
    let doctor = sandbox.htm(&["doctor"]).await;
    assert!(
        doctor
            .stdout
            .contains("the last call of openai/mock failed: a worker did not start: provider_unauthorized"),
        "{doctor:?}"
    );
    // A call that succeeds clears it.
    remember(&db.pool, "at last", 1).await;
    sandbox.run("embed-worker", &["--drain"], b"").await.succeeds();
    assert_eq!(sandbox.htm(&["--json", "providers"]).await.json()[0]["reason"], json!(null));
}

#[tokio::test]
async fn promise_10_the_worker_of_a_registered_model_starts_while_the_provider_is_away() {
    let db = TestDatabase::new().await;
    let provider = Provider::new(|texts, _| vectors(texts)).await;
    let sandbox = provider.sandbox(&db.url()).set("HTM_EMBEDDING__DIMENSIONS", "0");
    sandbox.run("embed-worker", &["--drain"], b"").await.succeeds();
    assert_eq!(provider.calls().len(), 1, "a new model: the provider was asked for the dimensions");
    provider.becomes(|_, _| ResponseTemplate::new(500));
    remember(&db.pool, "meanwhile", 3).await;
    let workers =
        [&[][..], &["--queue", "htm.embed"]].map(|arguments| sandbox.start("embed-worker", arguments));
    for worker in &workers {
        identity(&db.pool, worker).await;
    }
    let up = sandbox.start("htm", &["up"]);
    wait_until(|| async { up.log().contains("HTM is up") }).await;
    provider.becomes(|texts, _| vectors(texts));
    until_done(&db.pool, Stage::Embed).await;
    let of_jobs = &provider.calls()[1..];
    assert!(of_jobs.iter().all(|call| call.texts.iter().all(|text| text.starts_with("meanwhile"))));
    assert_complete(&sandbox, &db.pool, &[Stage::Embed]).await;
}

#[tokio::test]
async fn promise_10_a_provider_that_serves_another_model_now_holds_the_queue_and_makes_no_second_model() {
    let db = TestDatabase::new().await;
    let provider = Provider::new(|texts, _| vectors(texts)).await;
    let sandbox = provider.sandbox(&db.url()).set("HTM_EMBEDDING__DIMENSIONS", "0");
    sandbox.run("embed-worker", &["--drain"], b"").await.succeeds();
    provider.becomes(|texts, _| longer(texts));
    remember(&db.pool, "of another model", 3).await;
    let _worker = sandbox.start("embed-worker", &[]);
    let reason = "provider_other_dimensions: openai/mock: it gives vectors of 9 dimensions, not 8";
    wait_until(|| async { sandbox.htm(&["--json", "providers"]).await.json()[0]["reason"] == json!(reason) })
        .await;
    assert_eq!(number(&db.pool, "select count(*) from htm.embedding_models").await, 1);
    let charged = "select count(*) from apalis.jobs where job_type = 'htm.embed' and (status = 'Killed' or attempts > 1)";
    assert_eq!(number(&db.pool, charged).await, 0);
    // The former model is back.
    provider.becomes(|texts, _| vectors(texts));
    until_done(&db.pool, Stage::Embed).await;
    assert_complete(&sandbox, &db.pool, &[Stage::Embed]).await;
    // On purpose there are two.
    let sandbox = sandbox.set("HTM_EMBEDDING__DIMENSIONS", "9");
    provider.becomes(|texts, _| longer(texts));
    sandbox.run("embed-worker", &["--drain"], b"").await.succeeds();
    let labels: Vec<String> = sqlx::query_scalar("select label from htm.embedding_models order by id")
        .fetch_all(&db.pool)
        .await
        .unwrap();
    assert_eq!(labels, ["openai/mock", "openai/mock@9"]);
}

/// Vectors with a component more.
fn longer(texts: &[String]) -> ResponseTemplate {
    let longer = vectors_of(texts).into_iter().map(|(index, mut vector)| {
        vector.as_array_mut().unwrap().push(json!(0.5));
        (index, vector)
    });
    answer(longer.collect())
}

#[tokio::test]
async fn promise_11_a_call_that_hangs_ends_by_its_deadline() {
    let db = TestDatabase::new().await;
    let provider = Provider::new(|texts, before| {
        vectors(texts).set_delay(Duration::from_secs(if before == 0 { 3_600 } else { 0 }))
    })
    .await;
    let sandbox = provider.sandbox(&db.url()).set("HTM_EMBEDDING__TIMEOUT_MS", "300");
    remember(&db.pool, "hung", 4).await;
    let _worker = sandbox.start("embed-worker", &["--concurrency", "1"]);
    until_done(&db.pool, Stage::Embed).await;
    let reasons = "select count(*) from htm.completions where attempt = 2";
    assert_eq!(number(&db.pool, reasons).await, 4, "one attempt timed out");
    assert_complete(&sandbox, &db.pool, &[Stage::Embed]).await;
}

#[tokio::test]
async fn promise_20_two_processes_together_stay_under_the_limit() {
    let db = TestDatabase::new().await;
    let provider = Provider::new(|texts, _| vectors(texts)).await;
    let sandbox = provider.sandbox(&db.url());
    sandbox.htm(&["providers", "set", "openai/mock", "--requests-per-minute", "240"]).await.succeeds();
    remember(&db.pool, "governed", 24).await;
    let _workers: Vec<_> =
        (0..2).map(|_| sandbox.start("embed-worker", &["--batch", "1", "--concurrency", "2"])).collect();
    until_done(&db.pool, Stage::Embed).await;
    let calls = provider.calls();
    assert_eq!(calls.len(), 24);
    // 240 a minute: a burst of four, then one in about a quarter of a second, whoever makes it.
    for (first, call) in calls.iter().enumerate() {
        let within =
            calls[first..].iter().take_while(|other| other.at - call.at < Duration::from_secs(3)).count();
        assert!(within <= 4 + 12 + 1, "{within} calls within 3 s");
    }
    let both: Vec<(String,)> =
        sqlx::query_as("select distinct worker from htm.completions").fetch_all(&db.pool).await.unwrap();
    assert_eq!(both.len(), 2, "both work");
    assert_complete(&sandbox, &db.pool, &[Stage::Embed]).await;
}

/// A text that is too long for the provider is sent in halves.
#[tokio::test]
async fn promise_20_each_request_of_a_call_stays_under_the_limit() {
    let db = TestDatabase::new().await;
    let provider = Provider::new(|texts, _| match texts.iter().any(|text| text.len() > 600) {
        true => refusal(400, "invalid_request_error", "too long"),
        false => vectors(texts),
    })
    .await;
    let sandbox = provider.sandbox(&db.url()).set("HTM_EMBEDDING__WINDOW", "8000");
    sandbox.htm(&["providers", "set", "openai/mock", "--requests-per-minute", "60"]).await.succeeds();
    db.htm().remember(Memory::new("Some words to read. ".repeat(50))).await.unwrap();
    sandbox.run("embed-worker", &["--drain"], b"").await.succeeds();
    let calls = provider.calls();
    assert_eq!(calls.len(), 3, "one that is refused, and two halves");
    for pair in calls.windows(2) {
        let apart = pair[1].at - pair[0].at;
        assert!(apart > Duration::from_millis(800), "one a second: {apart:?}");
    }
    assert_complete(&sandbox, &db.pool, &[Stage::Embed]).await;
}

#[tokio::test]
async fn promise_20_concurrent_calls_are_counted_over_the_fleet() {
    let db = TestDatabase::new().await;
    let provider = Provider::new(|texts, _| vectors(texts).set_delay(Duration::from_millis(200))).await;
    let sandbox = provider.sandbox(&db.url());
    sandbox.htm(&["providers", "set", "openai/mock", "--concurrent", "2"]).await.succeeds();
    remember(&db.pool, "one by one", 16).await;
    let mut workers: Vec<_> =
        (0..2).map(|_| sandbox.start("embed-worker", &["--batch", "1", "--concurrency", "4"])).collect();
    // One dies in the midst of its calls: they must not count for ever.
    wait_until(|| async { provider.calls().len() >= 4 }).await;
    let mut victim = workers.remove(0);
    victim.signal(Signal::SIGKILL);
    victim.end().await;
    sqlx::query("update htm.provider_calls set expires_at = least(expires_at, now() + interval '1 second')")
        .execute(&db.pool)
        .await
        .unwrap();
    until_done(&db.pool, Stage::Embed).await;
    let calls = provider.calls();
    for (first, call) in calls.iter().enumerate() {
        let beside =
            calls[first..].iter().take_while(|other| other.at - call.at < Duration::from_millis(150)).count();
        assert!(beside <= 2, "{beside} calls at once");
    }
    assert_complete(&sandbox, &db.pool, &[Stage::Embed]).await;
}

#[tokio::test]
async fn promise_16_a_limited_provider_serves_live_work_before_a_backfill() {
    let db = TestDatabase::new().await;
    let provider = Provider::new(|texts, _| vectors(texts).set_delay(Duration::from_millis(400))).await;
    let sandbox = provider.sandbox(&db.url());
    sandbox.htm(&["providers", "set", "openai/mock", "--concurrent", "1"]).await.succeeds();
    remember(&db.pool, "old", 1_000).await;
    sqlx::query("update apalis.jobs set priority = -10").execute(&db.pool).await.unwrap();
    let _workers: Vec<_> =
        (0..4).map(|_| sandbox.start("embed-worker", &["--batch", "2", "--concurrency", "4"])).collect();
    // All of them wait in line.
    let waiting = "select count(*) from htm.waiting_calls";
    wait_until(|| async { number(&db.pool, waiting).await >= 15 }).await;
    for round in 0..4 {
        let before = provider.calls().len();
        let text = format!("live {round}");
        remember(&db.pool, &text, 1).await;
        let place = || provider.calls().iter().position(|call| call.texts[0].starts_with(&text));
        wait_until(|| async { place().is_some() }).await;
        let overtaken = place().unwrap() - before;
        // The one that is under way when it is claimed, and one that had leave already.
        assert!(overtaken <= 2, "{overtaken} calls of the backfill came first");
    }
}

#[tokio::test]
async fn promise_20_a_spent_budget_parks_and_a_raised_one_goes_on() {
    let db = TestDatabase::new().await;
    let provider = Provider::new(|texts, _| vectors(texts)).await;
    let sandbox = provider.sandbox(&db.url());
    sandbox.htm(&["providers", "budget", "default", "--tokens-per-day", "10"]).await.succeeds();
    remember(&db.pool, "costs some tokens, number", 10).await;
    sandbox.run("embed-worker", &["--drain"], b"").await.succeeds();
    let done = depth(&db.pool, Stage::Embed).await.done;
    assert!((1..10).contains(&done), "{done} of 10 within the budget");
    let parked = "select count(*) from apalis.jobs where job_type = 'htm.embed' and status = 'Pending' and attempts = 0
                   and metadata -> 'parked' = 'budget'
                   and run_at = (date_trunc('day', now() at time zone 'utc') + interval '1 day') at time zone 'utc'";
    assert_eq!(number(&db.pool, parked).await, 10 - done);
    let budgets = sandbox.htm(&["--json", "providers", "budgets"]).await.json();
    assert!(budgets.to_string().contains("default"), "{budgets}");
    assert_audited(&sandbox).await;
    sandbox.htm(&["providers", "budget", "default", "--tokens-per-day", "1000"]).await.succeeds();
    sandbox.run("embed-worker", &["--drain"], b"").await.succeeds();
    assert_complete(&sandbox, &db.pool, &[Stage::Embed]).await;
    let used: i64 = number(&db.pool, "select tokens_used from htm.budgets").await;
    let length: i64 = number(&db.pool, "select sum(token_count) from htm.nodes").await;
    assert_eq!(used, length, "each text is paid for once");
}

#[tokio::test]
async fn promise_20_the_breaker_is_the_fleets() {
    let db = TestDatabase::new().await;
    let provider = Provider::new(|_, _| ResponseTemplate::new(500)).await;
    let sandbox = provider.sandbox(&db.url());
    remember(&db.pool, "behind the breaker", 100).await;
    let _workers: Vec<_> = (0..2).map(|_| sandbox.start("embed-worker", &["--batch", "1"])).collect();
    let open = "select count(*) from htm.providers where breaker = 'open'";
    wait_until(|| async { number(&db.pool, open).await == 1 }).await;
    sqlx::query("update htm.providers set retry_at = now() + interval '1 hour'")
        .execute(&db.pool)
        .await
        .unwrap();
    wait_until(|| async { depth(&db.pool, Stage::Embed).await.running == 0 }).await;
    let calls = provider.calls().len();
    assert!(calls <= 5 + 4, "five failures, and what was under way: {calls}");
    let charged = number(&db.pool, "select sum(attempts) from apalis.jobs").await;
    assert_eq!(charged as usize, calls, "no attempt without a call");
    provider.becomes(|texts, _| vectors(texts));
    // Nobody calls until an operator says that it is mended.
    let held = sandbox.htm(&["--json", "providers"]).await.json();
    assert_eq!(held[0]["breaker"], json!("open"), "{held}");
    assert_eq!(provider.calls().len(), calls);
    sandbox.htm(&["providers", "reset", "openai/mock"]).await.succeeds();
    until_done(&db.pool, Stage::Embed).await;
    assert_complete(&sandbox, &db.pool, &[Stage::Embed]).await;
}
